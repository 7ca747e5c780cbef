/** Both APIs, their callers, and other callers of functions. */
import { describe, expect, test } from '@jest/globals';
import { functionOf } from '../../functions/groups.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { pathsOf } from '../../shared/server/http/routes.ts';
import { type Assembly, type Built, functionOfId, idIn } from './build.ts';

interface Served {
  readonly by: string;
  readonly authorization: string;
}

/** Target of each route of an API, by route key. */
function routesOf(assembly: Assembly, protocol: 'HTTP' | 'WEBSOCKET'): Record<string, Served> {
  const routes = assembly
    .ofType('AWS::ApiGatewayV2::Route')
    .filter(
      ([, { Properties }]) => assembly.resources[idIn(Properties.ApiId)].Properties.ProtocolType === protocol,
    )
    .map(([, { Properties }]) => {
      const integration = assembly.resources[idIn(Properties.Target)];
      const uri = JSON.stringify(integration.Properties.IntegrationUri);
      const lambda = /"Fn::GetAtt":\["(\w+)","Arn"\]/.exec(uri)?.[1];
      const served = {
        by: lambda === undefined ? 'the write service' : functionOfId(lambda),
        authorization: Properties.AuthorizationType ?? 'NONE',
      };
      return [Properties.RouteKey as string, served] as const;
    });
  return Object.fromEntries(routes);
}

export function apiTests(built: () => Built): void {
  describe('the HTTP API', () => {
    test('has exactly the paths of the route table, each with the function of all its methods', () => {
      const wanted = ROUTES.flatMap(route =>
        pathsOf(route)
          .filter(path => !path.endsWith('/'))
          .map(path => [`ANY ${path}`, functionOf(route)] as const),
      );
      expect(wanted.length).toBeGreaterThan(100);
      const served = routesOf(built().assemblies.iam, 'HTTP');
      expect(Object.fromEntries(Object.entries(served).map(([key, { by }]) => [key, by]))).toEqual({
        ...Object.fromEntries(wanted),
        // Everything else is answered with the program's own 404.
        $default: 'status',
      });
    });

    test('fits the quota of an account: 300 routes of an API, 500 resources of a stack', () => {
      for (const assembly of Object.values(built().assemblies)) {
        expect(Object.keys(routesOf(assembly, 'HTTP')).length).toBeLessThan(300);
        expect(Object.keys(assembly.resources).length).toBeLessThan(400);
        expect(Object.keys(assembly.outputs).length).toBeLessThan(200);
      }
    });

    test('authorizes by signature, by token except for health checks, or not at all', () => {
      const { iam, token, full: none } = built().assemblies;
      const kinds = (assembly: Assembly) => {
        const served = Object.entries(routesOf(assembly, 'HTTP'));
        return new Set(served.map(([, { authorization }]) => authorization));
      };
      expect(kinds(iam)).toEqual(new Set(['AWS_IAM']));
      expect(kinds(none)).toEqual(new Set(['NONE']));
      const open = Object.entries(routesOf(token, 'HTTP')).filter(
        ([, { authorization }]) => authorization !== 'CUSTOM',
      );
      expect(open.map(([key]) => key).sort()).toEqual([
        'ANY /loki/api/v1/openapi.json',
        'ANY /loki/api/v1/status/buildinfo',
        'ANY /ready',
        'ANY /svc/api/v1/openapi.json',
        'ANY /svc/api/v1/status/buildinfo',
      ]);
    });

    test('caches results of the authorizer for 30 s by the token, and functions refuse requests without it', () => {
      const { token } = built().assemblies;
      const authorizers = token
        .ofType('AWS::ApiGatewayV2::Authorizer')
        .map(([, { Properties }]) => Properties);
      const ofHttp = authorizers.filter(one => one.AuthorizerPayloadFormatVersion !== undefined);
      for (const one of ofHttp) {
        expect(one).toMatchObject({
          AuthorizerType: 'REQUEST',
          AuthorizerPayloadFormatVersion: '2.0',
          EnableSimpleResponses: true,
          AuthorizerResultTtlInSeconds: 30,
        });
      }
      // Firehose has a separate header, and every header that an authorizer names must be present.
      expect(ofHttp.map(one => one.IdentitySource).sort()).toEqual([
        ['$request.header.Authorization'],
        ['$request.header.X-Amz-Firehose-Access-Key'],
      ]);
      const ofTails = authorizers.find(one => one.AuthorizerPayloadFormatVersion === undefined);
      // A ticket comes in the address, without the header.
      expect(ofTails).toMatchObject({ AuthorizerType: 'REQUEST' });
      expect(ofTails.IdentitySource ?? []).toEqual([]);
      for (const [, { Properties }] of token.ofType('AWS::Lambda::Function')) {
        if (Properties.Environment?.Variables.LOGBOOM_TABLE === undefined) continue;
        expect(Properties.Environment.Variables.LOGBOOM_AUTHORIZATION).toBe('token');
      }
    });

    test('logs its requests without addresses and query texts', () => {
      const stages = built().assemblies.iam.ofType('AWS::ApiGatewayV2::Stage');
      expect(stages).toHaveLength(2);
      for (const [, { Properties }] of stages) {
        const { Format, DestinationArn } = Properties.AccessLogSettings;
        expect(built().assemblies.iam.resources[idIn(DestinationArn)].Type).toBe('AWS::Logs::LogGroup');
        const fields = [...Format.matchAll(/\$context\.([A-Za-z.]+)/g)].map(([, name]: string[]) => name);
        expect(fields).toContain('requestId');
        for (const field of fields) expect(field).not.toMatch(/sourceIp|path|query|authorizer|header/i);
      }
    });

    test('alone may invoke the functions by a permission of theirs', () => {
      const { iam: assembly } = built().assemblies;
      const permissions = assembly.ofType('AWS::Lambda::Permission');
      expect(
        permissions.map(([, { Properties }]) => functionOfId(idIn(Properties.FunctionName))).sort(),
      ).toEqual([
        'maintenance',
        'push',
        'query',
        'status',
        'tail-connect',
        'tail-default',
        'tail-disconnect',
      ]);
      for (const [, { Properties }] of permissions) {
        expect(Properties.Principal).toBe('apigateway.amazonaws.com');
        const [apiId] = /"Ref":"\w+Api\w+"/.exec(JSON.stringify(Properties.SourceArn)) ?? [''];
        expect(apiId).not.toBe('');
      }
      expect(assembly.ofType('AWS::Lambda::Url')).toEqual([]);
    });
  });

  describe('live tails', () => {
    test('have a function for each route; connecting requires authorization', () => {
      const { iam, token } = built().assemblies;
      expect(routesOf(iam, 'WEBSOCKET')).toEqual({
        $connect: { by: 'tail-connect', authorization: 'AWS_IAM' },
        $default: { by: 'tail-default', authorization: 'NONE' },
        $disconnect: { by: 'tail-disconnect', authorization: 'NONE' },
      });
      expect(routesOf(token, 'WEBSOCKET').$connect.authorization).toBe('CUSTOM');
    });

    test('functions that commit may notify them, and functions that know the stage may post to them', () => {
      const calls: string[] = [];
      const posts: string[] = [];
      for (const [id, { Properties }] of built().assemblies.full.ofType('AWS::Lambda::Function')) {
        const variables = Properties.Environment?.Variables ?? {};
        if (variables.LOGBOOM_TAIL_FUNCTION !== undefined) calls.push(functionOfId(id));
        if (variables.LOGBOOM_CONNECTIONS_ENDPOINT !== undefined) posts.push(functionOfId(id));
      }
      expect(calls.sort()).toEqual(['cloudwatch-logs', 'push', 's3-objects', 'tail-connect', 'timer']);
      expect(posts.sort()).toEqual(['tail-connect', 'tail-disconnect', 'tail-dispatch']);
    });
  });

  describe('the schedules', () => {
    test('one call a minute for all jobs and tails, with its time, and failures end in the queue', () => {
      const { iam, default: plain } = built().assemblies;
      const foundIn = (assembly: Assembly) => {
        const [[queueId]] = assembly.ofType('AWS::SQS::Queue');
        return assembly.ofType('AWS::Scheduler::Schedule').map(([, { Properties }]) => {
          const { Target, ScheduleExpression } = Properties;
          expect(Properties.FlexibleTimeWindow).toEqual({ Mode: 'OFF' });
          expect(Target.RetryPolicy).toEqual({ MaximumRetryAttempts: 3, MaximumEventAgeInSeconds: 300 });
          expect(idIn(Target.DeadLetterConfig.Arn)).toBe(queueId);
          expect(
            assembly.resources[idIn(Target.RoleArn)].Properties.AssumeRolePolicyDocument.Statement,
          ).toMatchObject([
            {
              Principal: { Service: 'scheduler.amazonaws.com' },
              Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
            },
          ]);
          return `${functionOfId(idIn(Target.Arn))} ${Target.Input} ${ScheduleExpression}`;
        });
      };
      const timer = 'timer {"time":"<aws.scheduler.scheduled-time>"} rate(1 minute)';
      expect(foundIn(plain)).toEqual([timer]);
      expect(foundIn(iam).sort()).toEqual(['canary {} rate(5 minutes)', timer]);
    });

    test('the timer knows whom to call', () => {
      const { default: assembly } = built().assemblies;
      const [, { Properties }] = assembly
        .ofType('AWS::Lambda::Function')
        .find(([id]) => functionOfId(id) === 'timer')!;
      const { LOGBOOM_MAINTENANCE_FUNCTION: jobs, LOGBOOM_TAIL_FUNCTION: tails } =
        Properties.Environment.Variables;
      expect([functionOfId(idIn(jobs)), functionOfId(idIn(tails))]).toEqual(['maintenance', 'tail-dispatch']);
    });

    test('a call that fails is not repeated, but kept for two weeks', () => {
      const { iam: assembly } = built().assemblies;
      const [[queueId, queue]] = assembly.ofType('AWS::SQS::Queue');
      expect(queue.Properties).toMatchObject({
        SqsManagedSseEnabled: true,
        MessageRetentionPeriod: 1_209_600,
      });
      const configs = assembly.ofType('AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => {
        expect(Properties).toMatchObject({ Qualifier: '$LATEST', MaximumRetryAttempts: 0 });
        expect(idIn(Properties.DestinationConfig.OnFailure.Destination)).toBe(queueId);
        return functionOfId(idIn(Properties.FunctionName));
      });
      expect(configs.sort()).toEqual(['canary', 'maintenance', 'tail-dispatch', 'timer']);
    });
  });
}

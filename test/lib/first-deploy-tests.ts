/**
 * Properties of templates that decide whether the first deployment into an empty account works, and its
 * outputs. No emulator shows them.
 */
import { describe, expect, test } from '@jest/globals';
import { type Assembly, type Built, functionOfId, idIn, type Resource } from './build.ts';
import { VARIANTS } from './variants.ts';

/** Types that take tags as a list of `Key` and `Value`. */
const TAGGED = [
  'AWS::Lambda::Function',
  'AWS::DynamoDB::Table',
  'AWS::S3::Bucket',
  'AWS::SQS::Queue',
  'AWS::IAM::Role',
  'AWS::Logs::LogGroup',
];

/** Text of an output: names that only a deployment knows are `<LogicalId.Attribute>`. */
function outputText(assembly: Assembly, name: string): string {
  return textOf(assembly.outputs[name]?.Value);
}

// biome-ignore lint/suspicious/noExplicitAny: intrinsic functions of CloudFormation, as they come
function textOf(value: any): string {
  if (typeof value === 'string') return value;
  if (value?.Ref !== undefined) return `<${value.Ref}>`;
  if (value?.['Fn::GetAtt'] !== undefined) return `<${value['Fn::GetAtt'].join('.')}>`;
  if (value?.['Fn::Join'] !== undefined) return value['Fn::Join'][1].map(textOf).join(value['Fn::Join'][0]);
  if (value?.['Fn::Select'] !== undefined) return `<${JSON.stringify(value)}>`;
  return '';
}

const stageOf = (assembly: Assembly, protocol: string): Resource =>
  assembly
    .ofType('AWS::ApiGatewayV2::Stage')
    .map(([, stage]) => stage)
    .find(
      ({ Properties }) => assembly.resources[idIn(Properties.ApiId)].Properties.ProtocolType === protocol,
    )!;

export function firstDeployTests(built: () => Built): void {
  describe('the role by which API Gateway logs', () => {
    test('is made and set before the stage that needs it, and stays', () => {
      const { default: assembly } = built().assemblies;
      const [[accountId, account], ...others] = assembly.ofType('AWS::ApiGateway::Account');
      expect(others).toEqual([]);
      const roleId = idIn(account.Properties.CloudWatchRoleArn);
      const role = assembly.resources[roleId];
      expect(role.Properties.AssumeRolePolicyDocument.Statement).toEqual([
        { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'apigateway.amazonaws.com' } },
      ]);
      expect(JSON.stringify(role.Properties.ManagedPolicyArns)).toContain(
        ':iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
      );
      expect(account.DependsOn).toContain(roleId);
      expect(stageOf(assembly, 'WEBSOCKET').DependsOn).toContain(accountId);
      // The other way round neither would ever be made.
      expect(JSON.stringify([account, role])).not.toMatch(/ApiGatewayV2|Stage/);
      // Other APIs of the account may have come to lean on it.
      expect([account.DeletionPolicy, role.DeletionPolicy]).toEqual([
        'RetainExceptOnCreate',
        'RetainExceptOnCreate',
      ]);
    });

    test('is not changed if the account has one', () => {
      const { own, url } = built().assemblies;
      for (const assembly of [own, url]) expect(assembly.ofType('AWS::ApiGateway::Account')).toEqual([]);
      expect(stageOf(own, 'WEBSOCKET').Properties.AccessLogSettings).toBeDefined();
    });
  });

  test('a first deployment that fails leaves neither bucket nor table: nothing protects them then', () => {
    const { default: assembly, own } = built().assemblies;
    const [, bucket] = assembly.ofType('AWS::S3::Bucket').find(([id]) => id.startsWith('Chunks'))!;
    const [[, table]] = assembly.ofType('AWS::DynamoDB::Table');
    for (const resource of [bucket, table])
      expect(resource).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    expect(table.Properties.DeletionProtectionEnabled).toBe(false);
    expect(
      Object.values(assembly.resources).filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain'),
    ).toEqual([]);
    const [[, protectedTable]] = own.ofType('AWS::DynamoDB::Table');
    expect(protectedTable.Properties.DeletionProtectionEnabled).toBe(true);
  });

  test('the logs of both APIs are below /aws/vendedlogs/, with the name of the stack', () => {
    const { default: assembly, own } = built().assemblies;
    const namesOf = (of: Assembly) =>
      of.ofType('AWS::ApiGatewayV2::Stage').map(([, { Properties }]) => {
        const { DestinationArn } = Properties.AccessLogSettings;
        return textOf(of.resources[idIn(DestinationArn)].Properties.LogGroupName);
      });
    for (const one of [assembly, own])
      expect(namesOf(one).sort()).toEqual(
        ['http', 'tail'].map(api => `/aws/vendedlogs/logboom/<AWS::StackName>/${api}`),
      );
  });

  describe('outputs', () => {
    test('agents push to the address in the region, all other clients use CloudFront', () => {
      const { default: assembly } = built().assemblies;
      expect(outputText(assembly, 'BaseUrl')).toMatch(/^https:\/\/<EdgeDistribution\w+\.DomainName>$/);
      const pushUrl = outputText(assembly, 'PushUrl');
      expect(pushUrl).toMatch(/^https:\/\/<HttpApi\w+>\.execute-api\.<AWS::Region>\.<AWS::URLSuffix>$/);
      expect(outputText(assembly, 'AlloySnippet')).toContain(`url = "${pushUrl}/loki/api/v1/push"`);
      expect(outputText(assembly, 'CurlPush')).toContain(`'${pushUrl}/loki/api/v1/push'`);
      expect(outputText(assembly, 'GrafanaDataSource')).toContain(
        `url: ${outputText(assembly, 'BaseUrl')}\n`,
      );
      expect(outputText(assembly, 'CurlQuery')).toContain(outputText(assembly, 'BaseUrl'));
    });

    test('snippets have a tenant, and take the token from the environment: nothing is to be filled in', () => {
      const { default: assembly } = built().assemblies;
      const snippets = ['AlloySnippet', 'CurlPush', 'CurlQuery', 'GrafanaDataSource'];
      for (const name of snippets) {
        expect(outputText(assembly, name)).toMatch(/LOGBOOM_TOKEN/);
        expect(outputText(assembly, name)).toMatch(/\bmain\b/);
        expect(outputText(assembly, name)).not.toMatch(/TENANT\b|\bTOKEN\b/);
      }
      expect(outputText(assembly, 'FirstTokenCommand')).toMatch(
        /^aws lambda invoke --region <AWS::Region> --function-name <FirstTokenFunction\w+> first-token\.json && cat first-token\.json$/,
      );
    });

    test('prints only commands that can sign if requests need signatures', () => {
      const { iam } = built().assemblies;
      expect(Object.keys(iam.outputs).sort()).toEqual([
        ...['BaseUrl', 'BucketName', 'CurlPush', 'CurlQuery', 'MaintenanceFunction'],
        ...['PushUrl', 'TableName', 'TailUrl'],
      ]);
      for (const name of ['CurlPush', 'CurlQuery']) {
        const text = outputText(iam, name);
        expect(text).toContain("--aws-sigv4 'aws:amz:<AWS::Region>:execute-api'");
        // A signature covers the host, which is that of the API.
        expect(text).toContain(outputText(iam, 'PushUrl'));
      }
    });

    test('snippets name the tenant if there is no authorization', () => {
      const { full } = built().assemblies;
      expect(outputText(full, 'AlloySnippet')).toContain('tenant_id = "main"');
      expect(outputText(full, 'CurlPush')).toContain("-H 'X-Scope-OrgID: main'");
      expect(full.outputs).not.toHaveProperty('FirstTokenCommand');
    });
  });

  test('the first token is made by a function that nothing else may call, and is nowhere in a template', () => {
    const { default: assembly, iam } = built().assemblies;
    const [id] = assembly
      .ofType('AWS::Lambda::Function')
      .find(([one]) => functionOfId(one) === 'first-token')!;
    for (const [, { Properties }] of assembly.ofType('AWS::IAM::Policy'))
      expect(JSON.stringify(Properties.PolicyDocument)).not.toContain(id);
    for (const type of ['AWS::Lambda::Permission', 'AWS::Scheduler::Schedule'])
      for (const [, { Properties }] of assembly.ofType(type))
        expect(JSON.stringify(Properties)).not.toContain(id);
    expect(JSON.stringify(assembly.resources)).not.toContain('lgbm_');
    expect(assembly.ofType('AWS::SecretsManager::Secret')).toEqual([]);
    expect(iam.ofType('AWS::Lambda::Function').map(([one]) => functionOfId(one))).not.toContain(
      'first-token',
    );
  });

  describe('optional monitoring', () => {
    test('is omitted without a recipient: alarms, dashboard, metrics and canary', () => {
      const { default: assembly } = built().assemblies;
      for (const type of ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::SNS::Topic'])
        expect(assembly.ofType(type)).toEqual([]);
      for (const [, { Properties }] of assembly.ofType('AWS::Lambda::Function')) {
        const variables = Properties.Environment?.Variables;
        if (variables?.LOGBOOM_TABLE !== undefined) expect(variables.LOGBOOM_EMBEDDED_METRICS).toBe('false');
      }
      expect(assembly.ofType('AWS::Scheduler::Schedule')).toHaveLength(1);
    });

    test('exists on request or with a recipient', () => {
      const { iam, full, token } = built().assemblies;
      for (const assembly of [iam, full, token]) {
        expect(assembly.ofType('AWS::CloudWatch::Alarm').length).toBeGreaterThan(10);
        expect(assembly.ofType('AWS::CloudWatch::Dashboard')).toHaveLength(1);
        expect(assembly.ofType('AWS::Scheduler::Schedule')).toHaveLength(2);
      }
    });
  });

  describe('endpoint=function-url', () => {
    test('has nothing that LocalStack charges for', () => {
      const { url } = built().assemblies;
      const types = new Set(Object.values(url.resources).map(({ Type }) => Type));
      for (const type of types)
        expect(type).not.toMatch(/^AWS::(ApiGateway|ApiGatewayV2|CloudFront|Scheduler)::/);
      expect(
        url
          .ofType('AWS::Lambda::Function')
          .map(([id]) => functionOfId(id))
          .sort(),
      ).toEqual([...['all-in-one', 'bucket-content', 'first-token', 'timer']]);
    });

    test('requires tokens itself, and a rule calls the timer', () => {
      const { url } = built().assemblies;
      const [[, { Properties }]] = url.ofType('AWS::Lambda::Url');
      expect(Properties.AuthType).toBe('NONE');
      expect(functionOfId(idIn(Properties.TargetFunctionArn))).toBe('all-in-one');
      const { Environment } = url.resources[idIn(Properties.TargetFunctionArn)].Properties;
      expect(Environment.Variables.LOGBOOM_AUTHORIZATION).toBe('own-token');
      const [[, rule]] = url.ofType('AWS::Events::Rule');
      expect(rule.Properties.ScheduleExpression).toBe('rate(1 minute)');
      expect(functionOfId(idIn(rule.Properties.Targets[0].Arn))).toBe('timer');
      // LocalStack sends no empty event.
      expect(rule.Properties.Targets[0]).not.toHaveProperty('Input');
      expect(outputText(url, 'CurlPush')).toContain(`${outputText(url, 'PushUrl')}/loki/api/v1/push`);
    });
  });

  describe('options of a deployment', () => {
    test('tags: the stack on everything, and those that are given', () => {
      const { own, default: assembly } = built().assemblies;
      for (const [id, { Type, Properties }] of Object.entries(own.resources)) {
        if (!TAGGED.includes(Type)) continue;
        const tags = Object.fromEntries(
          (Properties.Tags ?? []).map(({ Key, Value }: { Key: string; Value: unknown }) => [Key, Value]),
        );
        expect([id, tags]).toEqual([
          id,
          expect.objectContaining({ 'logboom:stack': { Ref: 'AWS::StackName' }, team: 'shop', env: 'prod' }),
        ]);
      }
      const [[, { Properties }]] = assembly.ofType('AWS::DynamoDB::Table');
      expect(Properties.Tags).toEqual([{ Key: 'logboom:stack', Value: { Ref: 'AWS::StackName' } }]);
    });

    test('a permissions boundary: on every role', () => {
      const roles = built().assemblies.own.ofType('AWS::IAM::Role');
      expect(roles.length).toBeGreaterThan(10);
      for (const [, { Properties }] of roles)
        expect(Properties.PermissionsBoundary).toBe(VARIANTS.own.permissionsBoundaryArn);
    });

    test('a VPC: for all functions that use the store, each with the rights for it', () => {
      const { own } = built().assemblies;
      for (const [, { Properties }] of own.ofType('AWS::Lambda::Function')) {
        if (Properties.Environment?.Variables.LOGBOOM_TABLE === undefined) continue;
        expect(Properties.VpcConfig).toEqual({
          SubnetIds: VARIANTS.own.subnetIds.split(','),
          SecurityGroupIds: [VARIANTS.own.securityGroupIds],
        });
        const role = idIn(Properties.Role);
        const policies = own
          .ofType('AWS::IAM::Policy')
          .filter(([, policy]) => idIn(policy.Properties.Roles[0]) === role);
        expect(JSON.stringify(policies)).toContain('ec2:CreateNetworkInterface');
      }
      expect(JSON.stringify(built().assemblies.default.resources)).not.toMatch(/VpcConfig|ec2:/);
    });
  });
}

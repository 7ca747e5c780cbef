import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FUNCTION_NAMES, functionOf, TAIL_FUNCTION_NAMES } from '../../functions/groups.ts';
import { pathsOf } from '../../shared/http/routes.ts';
import { ROUTES } from '../../shared/http/table.ts';
import { type Assembly, type Resource, synthesise } from './synthesise.ts';

/** Bundling and the CDK take seconds alone, and a minute on a machine that does much else. */
const SYNTH_TIMEOUT_MS = 240_000;

let assembly: Assembly;
beforeAll(async () => {
  assembly = await synthesise();
}, SYNTH_TIMEOUT_MS);
afterAll(() => assembly?.remove());

/** Without those of live tails, which stand by themselves. */
function ofType(type: string, { resources } = assembly): [string, Resource][] {
  return Object.entries(resources).filter(([id, { Type }]) => Type === type && !id.startsWith('Tail'));
}

function ofTails(type: string): [string, Resource][] {
  return Object.entries(assembly.resources).filter(
    ([id, { Type }]) => Type === type && id.startsWith('Tail'),
  );
}

function only(type: string): [string, Resource] {
  const found = ofType(type);
  expect(found).toHaveLength(1);
  return found[0];
}

/** Those of the API, and the one for parts of queries. */
const NAMES: readonly string[] = [...FUNCTION_NAMES, 'worker'];

/** `push`, `query`, `status`, `maintenance` or `worker`, of the logical id of anything that belongs to it. */
function functionNamed(logicalId: string): string | undefined {
  return NAMES.find(name => logicalId.toLowerCase().startsWith(name));
}

/** The logical id of a value made by Ref, Fn::GetAtt, or a join that holds one of them. */
function idIn(value: unknown): string | undefined {
  return /"(?:Ref|Fn::GetAtt)":\[?"([A-Za-z0-9]+)"/.exec(JSON.stringify(value))?.[1];
}

describe('the API', () => {
  /** Key of each route of the API → name of the function behind it. */
  function served(): Record<string, string | undefined> {
    return Object.fromEntries(
      ofType('AWS::ApiGatewayV2::Route').map(([, { Properties }]) => {
        const integration = assembly.resources[String(idIn(Properties.Target))];
        expect(integration.Properties).toMatchObject({
          IntegrationType: 'AWS_PROXY',
          PayloadFormatVersion: '2.0',
        });
        return [Properties.RouteKey, functionNamed(String(idIn(integration.Properties.IntegrationUri)))];
      }),
    );
  }

  test('has exactly the routes of the route table, each with its function', () => {
    const wanted = ROUTES.flatMap(route =>
      pathsOf(route)
        .filter(path => !path.endsWith('/'))
        .flatMap(path => route.methods.map(method => [`${method} ${path}`, functionOf(route)] as const)),
    );
    expect(wanted.length).toBeGreaterThan(20);
    expect(served()).toEqual(Object.fromEntries(wanted));
    expect(ofType('AWS::ApiGatewayV2::Route')).toHaveLength(wanted.length);
  });

  test('an alias that no route can name is left out, and the path without its slash is there', () => {
    const left = ROUTES.flatMap(route => pathsOf(route).map(path => ({ path, route }))).filter(({ path }) =>
      path.endsWith('/'),
    );
    expect(left.length).toBeGreaterThan(0);
    for (const { path, route } of left) {
      expect(path).not.toBe('/');
      for (const method of route.methods)
        expect(served()[`${method} ${path.slice(0, -1)}`]).toBe(functionOf(route));
    }
  });

  test('asks who calls, on every route', () => {
    for (const [, { Properties }] of ofType('AWS::ApiGatewayV2::Route')) {
      expect(Properties.AuthorizationType).toBe('AWS_IAM');
    }
  });

  test('alone may invoke the functions by a permission of theirs', () => {
    const [apiId] = only('AWS::ApiGatewayV2::Api');
    const permissions = ofType('AWS::Lambda::Permission');
    expect(
      permissions.map(([, { Properties }]) => functionNamed(idIn(Properties.FunctionName)!)).sort(),
    ).toEqual([...FUNCTION_NAMES].sort());
    for (const [, { Properties }] of permissions) {
      expect(Properties.Principal).toBe('apigateway.amazonaws.com');
      expect(JSON.stringify(Properties.SourceArn)).toContain(`{"Ref":"${apiId}"}`);
    }
    expect(ofType('AWS::Lambda::Url')).toEqual([]);
  });

  test('logs its requests without addresses and what people search for', () => {
    const [, { Properties }] = only('AWS::ApiGatewayV2::Stage');
    expect(Properties).toMatchObject({ StageName: '$default', AutoDeploy: true });
    const { Format, DestinationArn } = Properties.AccessLogSettings;
    expect(assembly.resources[String(idIn(DestinationArn))].Type).toBe('AWS::Logs::LogGroup');
    const fields = [...Format.matchAll(/\$context\.([A-Za-z.]+)/g)].map(([, name]: string[]) => name);
    expect(fields).toContain('requestId');
    for (const field of fields) expect(field).not.toMatch(/sourceIp|path|query|authorizer|header/i);
  });
});

describe('the data', () => {
  test('the bucket is encrypted, private, over TLS alone, and stays', () => {
    const [id, bucket] = only('AWS::S3::Bucket');
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        LifecycleConfiguration: {
          Rules: [{ Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }],
        },
      },
    });
    expect(bucket.Properties.VersioningConfiguration).toBeUndefined();
    // Nothing but broken uploads may ever vanish by itself.
    expect(JSON.stringify(bucket.Properties.LifecycleConfiguration)).not.toMatch(/Expiration|Transition/);

    const [, policy] = only('AWS::S3::BucketPolicy');
    expect(idIn(policy.Properties.Bucket)).toBe(id);
    const statements = policy.Properties.PolicyDocument.Statement;
    for (const { Effect } of statements) expect(Effect).toBe('Deny');
    expect(statements).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Action: 's3:*',
        Principal: { AWS: '*' },
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  });

  test('the table is encrypted, backed up, paid by request, and stays', () => {
    const [, table] = only('AWS::DynamoDB::Table');
    expect(table).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
        DeletionProtectionEnabled: true,
      },
    });
  });
});

describe('the functions', () => {
  test('run on the pinned runtime, within the gateway’s time', () => {
    const functions = ofType('AWS::Lambda::Function');
    expect(functions.map(([id]) => functionNamed(id)).sort()).toEqual([...NAMES].sort());
    const [bucketId] = only('AWS::S3::Bucket');
    const [tableId] = only('AWS::DynamoDB::Table');
    for (const [id, { Properties }] of functions) {
      expect(Properties).toMatchObject({
        Architectures: ['arm64'],
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Environment: { Variables: { LOGBOOM_BUCKET: { Ref: bucketId }, LOGBOOM_TABLE: { Ref: tableId } } },
      });
      // What a schedule calls may take Lambda's most; what only the gateway calls ends before it gives up.
      if (Properties.Timeout >= 30)
        expect([functionNamed(id), Properties.Timeout]).toEqual(['maintenance', 900]);
      const logGroup = assembly.resources[String(idIn(Properties.LoggingConfig.LogGroup))];
      expect(logGroup.Properties.RetentionInDays).toBe(30);
    }
  });

  test('their code is one module each, its source map apart', () => {
    for (const [, { Properties }] of ofType('AWS::Lambda::Function')) {
      const asset = `asset.${Properties.Code.S3Key.replace(/\.zip$/, '')}`;
      expect(readdirSync(join(assembly.folder, asset))).toEqual(['index.mjs']);
    }
    for (const name of FUNCTION_NAMES)
      expect(existsSync(join(assembly.folder, 'source-maps', `${name}.mjs.map`))).toBe(true);
  });

  test('may do what they need and nothing else', () => {
    const grants: Record<string, Record<string, string[]>> = {};
    for (const [, { Properties }] of ofType('AWS::IAM::Policy')) {
      expect(Properties.Roles).toHaveLength(1);
      const role = String(idIn(Properties.Roles[0]));
      const name = functionNamed(role) ?? role.replace(/Role[0-9A-F]{8}$/, '');
      for (const { Effect, Action, Resource } of Properties.PolicyDocument.Statement) {
        expect(Effect).toBe('Allow');
        const type = assembly.resources[String(idIn(Resource))].Type;
        // Of what it names: itself, or all objects in it.
        const within = JSON.stringify(Resource).replace(/\{"Fn::GetAtt":\["[A-Za-z0-9]+","Arn"\]\}/, 'ARN');
        const isObjects = type === 'AWS::S3::Bucket' && Action !== 's3:ListBucket';
        expect(within).toBe(isObjects ? '{"Fn::Join":["",[ARN,"/*"]]}' : 'ARN');
        const actions = [...(grants[name]?.[type] ?? []), ...[Action].flat()].sort();
        grants[name] = { ...grants[name], [type]: actions };
      }
    }
    const logs = ['logs:CreateLogStream', 'logs:PutLogEvents'];
    expect(grants).toEqual({
      push: {
        'AWS::Logs::LogGroup': logs,
        'AWS::S3::Bucket': ['s3:GetObject', 's3:PutObject'],
        'AWS::DynamoDB::Table': [
          'dynamodb:ConditionCheckItem',
          'dynamodb:GetItem',
          'dynamodb:PutItem',
          'dynamodb:Query',
        ],
        // It calls what serves live tails.
        'AWS::Lambda::Function': ['lambda:InvokeFunction'],
      },
      query: {
        'AWS::Logs::LogGroup': logs,
        'AWS::S3::Bucket': ['s3:GetObject'],
        'AWS::DynamoDB::Table': ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
        // It calls what works on parts of queries.
        'AWS::Lambda::Function': ['lambda:InvokeFunction'],
      },
      worker: { 'AWS::Logs::LogGroup': logs, 'AWS::S3::Bucket': ['s3:GetObject'] },
      status: { 'AWS::Logs::LogGroup': logs },
      maintenance: {
        'AWS::Logs::LogGroup': logs,
        'AWS::S3::Bucket': ['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
        'AWS::DynamoDB::Table': [
          'dynamodb:ConditionCheckItem',
          'dynamodb:DeleteItem',
          'dynamodb:GetItem',
          'dynamodb:PutItem',
          'dynamodb:Query',
        ],
        'AWS::SQS::Queue': ['sqs:SendMessage'],
      },
      Schedules: {
        'AWS::Lambda::Function': ['lambda:InvokeFunction'],
        'AWS::SQS::Queue': ['sqs:SendMessage'],
      },
    });
    const roles = ofType('AWS::IAM::Role');
    expect(roles).toHaveLength(NAMES.length + 1);
    for (const [, { Properties }] of roles) {
      expect(Properties.ManagedPolicyArns).toBeUndefined();
      expect(Properties.Policies).toBeUndefined();
    }
  });
});

describe('the schedules', () => {
  test('call the maintenance function for each job, at the interval of the configuration', () => {
    const [queueId] = only('AWS::SQS::Queue');
    const found = ofType('AWS::Scheduler::Schedule').map(([, { Properties }]) => {
      const { Target } = Properties;
      expect(Properties.FlexibleTimeWindow).toEqual({ Mode: 'OFF' });
      expect(functionNamed(String(idIn(Target.Arn)))).toBe('maintenance');
      expect(Target.RetryPolicy).toEqual({ MaximumRetryAttempts: 3, MaximumEventAgeInSeconds: 300 });
      expect(idIn(Target.DeadLetterConfig.Arn)).toBe(queueId);
      const role = assembly.resources[String(idIn(Target.RoleArn))];
      expect(role.Properties.AssumeRolePolicyDocument.Statement).toMatchObject([
        {
          Principal: { Service: 'scheduler.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        },
      ]);
      return [Target.Input, Properties.ScheduleExpression];
    });
    expect(Object.fromEntries(found)).toEqual({
      '{"job":"compaction"}': 'rate(1 minute)',
      '{"job":"collection"}': 'rate(5 minutes)',
      '{"job":"deletion"}': 'rate(1 minute)',
      '{"job":"retention"}': 'rate(1 minute)',
      '{"job":"index-sync"}': 'rate(5 minutes)',
      '{"job":"rules"}': 'rate(1 minute)',
    });
  });

  test('a run that fails is not repeated, but told of', () => {
    const [queueId, queue] = only('AWS::SQS::Queue');
    expect(queue.Properties).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 });
    const [, invoke] = only('AWS::Lambda::EventInvokeConfig');
    expect(functionNamed(String(idIn(invoke.Properties.FunctionName)))).toBe('maintenance');
    expect(invoke.Properties).toMatchObject({ Qualifier: '$LATEST', MaximumRetryAttempts: 0 });
    expect(idIn(invoke.Properties.DestinationConfig.OnFailure.Destination)).toBe(queueId);
    const [, alarm] = only('AWS::CloudWatch::Alarm');
    expect(idIn(alarm.Properties.Dimensions[0].Value)).toBe(queueId);
    expect(alarm.Properties).toMatchObject({ Threshold: 1, TreatMissingData: 'notBreaching' });
  });
});

describe('live tails', () => {
  const nameOf = (id: string) =>
    TAIL_FUNCTION_NAMES.find(name => id.startsWith(`Tail${name.replace('-', '')}`));

  test('a WebSocket API whose routes have a function each; who connects is asked for authorization', () => {
    const [[, api]] = ofTails('AWS::ApiGatewayV2::Api');
    expect(api.Properties.ProtocolType).toBe('WEBSOCKET');
    const routes = ofTails('AWS::ApiGatewayV2::Route').map(([, { Properties }]) => {
      const integration = assembly.resources[String(idIn(Properties.Target))];
      const lambda = /"Fn::GetAtt":\["(\w+)","Arn"\]/.exec(
        JSON.stringify(integration.Properties.IntegrationUri),
      );
      return [Properties.RouteKey, nameOf(lambda![1]), Properties.AuthorizationType ?? 'NONE'];
    });
    expect(routes.sort()).toEqual([
      ['$connect', 'tail-connect', 'AWS_IAM'],
      ['$default', 'tail-default', 'NONE'],
      ['$disconnect', 'tail-disconnect', 'NONE'],
    ]);
  });

  test('who posts knows the stage and may post to its connections; who commits calls the dispatcher', () => {
    const statements = ofTails('AWS::IAM::Policy').flatMap(([id, { Properties }]) =>
      Properties.PolicyDocument.Statement.map(({ Action }: { Action: unknown }) =>
        [nameOf(id), Action].flat(),
      ),
    );
    const holders = (action: string) =>
      statements.filter(([, ...actions]) => actions.includes(action)).map(([name]) => name);
    expect(holders('execute-api:ManageConnections').sort()).toEqual(['tail-connect', 'tail-dispatch']);
    // The schedule has a role of its own.
    expect(holders('lambda:InvokeFunction').sort()).toEqual(['tail-connect', undefined]);
    for (const [id, { Properties }] of [
      ...ofTails('AWS::Lambda::Function'),
      ...ofType('AWS::Lambda::Function'),
    ]) {
      const { LOGBOOM_TAIL_FUNCTION: calls, LOGBOOM_CONNECTIONS_ENDPOINT: posts } =
        Properties.Environment.Variables;
      const name = nameOf(id) ?? functionNamed(id);
      expect([name, calls !== undefined]).toEqual([name, name === 'push' || name === 'tail-connect']);
      const isPosting = ['tail-connect', 'tail-disconnect', 'tail-dispatch'].includes(String(name));
      expect([name, posts !== undefined]).toEqual([name, isPosting]);
    }
  });

  test('the dispatcher runs every minute, and what fails is not repeated', () => {
    const [[, schedule]] = ofTails('AWS::Scheduler::Schedule');
    expect(schedule.Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Target: { Input: '{}' },
    });
    expect(nameOf(String(idIn(schedule.Properties.Target.Arn)))).toBe('tail-dispatch');
    const [[, invoke]] = ofTails('AWS::Lambda::EventInvokeConfig');
    expect(invoke.Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
  });
});

describe('the assembly', () => {
  test('says where to push and where the data lies', () => {
    expect(Object.keys(assembly.outputs).sort()).toEqual(['BucketName', 'TableName', 'TailUrl', 'Url']);
    expect(JSON.stringify(assembly.outputs.Url.Value)).toMatch(/https:\/\/.*\.execute-api\./);
  });

  test('fits any account and region', () => {
    const { artifacts } = JSON.parse(readFileSync(join(assembly.folder, 'manifest.json'), 'utf8'));
    expect(artifacts.Logboom.environment).toBe('aws://unknown-account/unknown-region');
  });
});

test(
  'without authorization and with a configuration where both are asked for',
  async () => {
    const config = 'config/local.yaml';
    const open = await synthesise('--context', 'authorization=none', '--context', `config=${config}`);
    try {
      for (const [, { Properties }] of ofType('AWS::ApiGatewayV2::Route', open))
        expect(Properties.AuthorizationType ?? 'NONE').toBe('NONE');
      for (const [, { Properties }] of ofType('AWS::Lambda::Function', open))
        expect(Properties.Environment.Variables.LOGBOOM_CONFIG_YAML).toBe(readFileSync(config, 'utf8'));
      expect(ofType('AWS::Scheduler::Schedule', open).length).toBeGreaterThan(1);
    } finally {
      open.remove();
    }
  },
  SYNTH_TIMEOUT_MS,
);

test(
  'a wrong setting ends it before anything is written',
  async () => {
    await expect(synthesise('--context', 'authorization=maybe')).rejects.toThrow(
      /authorization is iam or none, not "maybe"/,
    );
  },
  SYNTH_TIMEOUT_MS,
);

/** Rights of each role: exactly those in lib/rights.ts and those listed here. */
import { expect, test } from '@jest/globals';
import {
  ALL_IN_ONE_RIGHTS,
  AUTHORIZER_RIGHTS,
  EXPORT_RIGHTS,
  FIRST_TOKEN_RIGHTS,
  MAINTENANCE_RIGHTS,
  PUSH_RIGHTS,
  patternsOf,
  QUERY_RIGHTS,
  type Rights,
  STATUS_RIGHTS,
  TAIL_CONNECT_RIGHTS,
  TAIL_DISCONNECT_RIGHTS,
  TAIL_DISPATCH_RIGHTS,
  TIMER_RIGHTS,
  WORKER_RIGHTS,
} from '../../lib/rights.ts';
import { type Assembly, type Built, functionOfId, idIn } from './build.ts';

const RIGHTS: Readonly<Record<string, Rights>> = {
  push: PUSH_RIGHTS,
  query: QUERY_RIGHTS,
  maintenance: MAINTENANCE_RIGHTS,
  status: STATUS_RIGHTS,
  authorizer: AUTHORIZER_RIGHTS,
  'first-token': FIRST_TOKEN_RIGHTS,
  timer: TIMER_RIGHTS,
  'all-in-one': ALL_IN_ONE_RIGHTS,
  'query-worker': WORKER_RIGHTS,
  'tail-connect': TAIL_CONNECT_RIGHTS,
  'tail-disconnect': TAIL_DISCONNECT_RIGHTS,
  'tail-default': {},
  'tail-dispatch': TAIL_DISPATCH_RIGHTS,
  'cloudwatch-logs': PUSH_RIGHTS,
  's3-objects': PUSH_RIGHTS,
  canary: {},
  'export-days': EXPORT_RIGHTS,
  'page-content': {},
  'bucket-content': {},
};

/** Rights beyond objects and items of the store, as `action resource`. */
const BESIDES: Readonly<Record<string, readonly string[]>> = {
  push: ['lambda:InvokeFunction tail-dispatch'],
  query: ['lambda:InvokeFunction query-worker'],
  'query-worker': ['lambda:InvokeFunction query-worker'],
  maintenance: ['lambda:InvokeFunction maintenance', 'sqs:SendMessage AWS::SQS::Queue'],
  'all-in-one': ['lambda:InvokeFunction all-in-one', 'sqs:SendMessage AWS::SQS::Queue'],
  timer: [
    'lambda:InvokeFunction maintenance',
    'lambda:InvokeFunction tail-dispatch',
    'sqs:SendMessage AWS::SQS::Queue',
  ],
  'tail-connect': ['execute-api:ManageConnections connections', 'lambda:InvokeFunction tail-dispatch'],
  'tail-dispatch': ['execute-api:ManageConnections connections', 'sqs:SendMessage AWS::SQS::Queue'],
  canary: ['execute-api:Invoke two endpoints', 'sqs:SendMessage AWS::SQS::Queue'],
  'export-days': [
    's3:DeleteObject lake files',
    's3:GetObject lake files',
    's3:ListBucket lake',
    's3:PutObject lake files',
    'sqs:SendMessage AWS::SQS::Queue',
  ],
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

function statementsOf(assembly: Assembly): Map<string, Statement[]> {
  const found = new Map<string, Statement[]>();
  for (const [, { Properties }] of assembly.ofType('AWS::IAM::Policy')) {
    expect(Properties.Roles).toHaveLength(1);
    const name = functionOfId(idIn(Properties.Roles[0]));
    // Roles of the write service are in write-tests.ts.
    if (idIn(Properties.Roles[0]).startsWith('Write')) continue;
    // Roles of the Scheduler, which is no function.
    const isTimer = /CanaryTimer|ExportTimer|Schedules/.test(idIn(Properties.Roles[0]));
    if (!isTimer) found.set(name, [...(found.get(name) ?? []), ...Properties.PolicyDocument.Statement]);
  }
  return found;
}

/** `action resource [key patterns]` of each part of a statement. */
function partsOf({ Effect, Action, Resource, Condition }: Statement, assembly: Assembly): string[] {
  expect(Effect).toBe('Allow');
  const patterns = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  const resources = Array.isArray(Resource) ? Resource : [Resource];
  return [Action].flat().flatMap(action => resources.map(resource => `${action} ${named(resource)}`));

  function named(resource: unknown): string {
    const text = JSON.stringify(resource);
    const { Type } = assembly.resources[idIn(resource)] ?? { Type: text };
    if (/ApiGatewayV2/.test(Type)) {
      if (text.includes('@connections/*')) return 'connections';
      return /\$default\/(POST\/loki\/api\/v1\/push|GET\/loki\/api\/v1\/query_range)"/.test(text)
        ? 'two endpoints'
        : text;
    }
    if (/:s3:::lake/.test(text)) return text.includes(':s3:::lake/logs/prod/*') ? 'lake files' : 'lake';
    if (Type === 'AWS::Lambda::Function') return functionOfId(idIn(resource));
    const within = /"(\/[^"]*)"\]\]/.exec(text)?.[1] ?? '';
    const keys = patterns === undefined ? '' : ` ${patterns.join(' ')}`;
    return `${Type}${within}${keys}`;
  }
}

function wanted(name: string): string[] {
  const rights = RIGHTS[name];
  const objects = (action: string, kinds: readonly string[] = []) =>
    kinds.map(kind => `${action} AWS::S3::Bucket/*/${kind}/*`);
  const items = (actions: readonly string[], families: Rights['readItems']) =>
    families === undefined
      ? []
      : actions.map(action => `${action} AWS::DynamoDB::Table ${patternsOf(families).join(' ')}`);
  return [
    ...['logs:CreateLogStream', 'logs:PutLogEvents'].map(action => `${action} AWS::Logs::LogGroup`),
    ...objects('s3:GetObject', rights.getObjects),
    ...objects('s3:PutObject', rights.putObjects),
    ...objects('s3:DeleteObject', rights.deleteObjects),
    ...(rights.listsObjects ? ['s3:ListBucket AWS::S3::Bucket'] : []),
    ...items(['dynamodb:GetItem', 'dynamodb:Query'], rights.readItems),
    ...items(['dynamodb:PutItem'], rights.putItems),
    ...items(['dynamodb:DeleteItem'], rights.deleteItems),
    ...items(['dynamodb:ConditionCheckItem'], rights.checkItems),
    ...(BESIDES[name] ?? []),
  ];
}

export function roleTests(built: () => Built): void {
  test('each function has exactly the rights that its code needs', () => {
    for (const assembly of [built().assemblies.iam, built().assemblies.lake]) {
      const found = statementsOf(assembly);
      expect(found.size).toBe(assembly.ofType('AWS::Lambda::Function').length);
      for (const [name, statements] of found) {
        // It manages the bucket of the page, which is no data.
        if (name === 'page-content') continue;
        const parts = new Set(statements.flatMap(statement => partsOf(statement, assembly)));
        expect([name, [...parts].sort()]).toEqual([name, [...new Set(wanted(name))].sort()]);
      }
    }
  });

  test('only the authorizer and the functions that manage tokens may read or write them', () => {
    for (const [name, rights] of Object.entries(RIGHTS)) {
      const families = [rights.readItems, rights.putItems, rights.deleteItems, rights.checkItems].flat();
      const mayUse = ['authorizer', 'first-token', 'maintenance', 'all-in-one'].includes(name);
      expect([name, families.includes('tokens')]).toEqual([name, mayUse]);
    }
  });

  test('readers of objects may list names without a condition, because S3 otherwise returns 403 for a missing object', () => {
    const { iam } = built().assemblies;
    for (const [name, statements] of statementsOf(iam)) {
      if (name === 'page-content') continue;
      const allowing = (action: string) =>
        statements.filter(({ Action }) => [Action].flat().includes(action));
      expect([name, allowing('s3:ListBucket').length > 0]).toEqual([
        name,
        allowing('s3:GetObject').length > 0,
      ]);
      for (const { Condition } of allowing('s3:ListBucket')) expect(Condition).toBeUndefined();
    }
  });

  test('an encryption key may be used through the two stores alone', () => {
    const { full } = built().assemblies;
    const found = statementsOf(full);
    for (const name of ['push', 'query', 'maintenance', 'query-worker']) {
      const [ofKey, ...others] = found.get(name)!.filter(({ Action }) => String(Action).includes('kms:'));
      expect(others).toEqual([]);
      const services = name === 'query-worker' ? ['s3'] : ['s3', 'dynamodb'];
      expect([ofKey.Condition?.StringEquals['kms:ViaService']].flat()).toEqual(
        services.map(service => `${service}.eu-central-1.amazonaws.com`),
      );
    }
  });

  test('no role has a managed policy or everything of anything', () => {
    for (const assembly of Object.values(built().assemblies)) {
      for (const [id, { Properties }] of assembly.ofType('AWS::IAM::Role')) {
        // API Gateway takes no other role for its logs (first-deploy-tests.ts).
        if (!id.startsWith('GatewayLogs')) expect(Properties.ManagedPolicyArns).toBeUndefined();
        expect(Properties.Policies).toBeUndefined();
      }
      for (const statements of statementsOf(assembly).values()) {
        for (const { Action, Resource } of statements) {
          for (const action of [Action].flat()) expect(action).not.toMatch(/\*/);
          // Interfaces of a VPC have no names before they are made.
          if (![Action].flat().every(action => action.startsWith('ec2:'))) expect(Resource).not.toBe('*');
        }
      }
    }
  });

  test('the canary with a token reads its secret, and the object with limits of tenants may be read', () => {
    const { token } = built().assemblies;
    const ofCanary = JSON.stringify(statementsOf(token).get('canary'));
    expect(ofCanary).toContain('secretsmanager:GetSecretValue');
    expect(ofCanary).not.toContain('execute-api');
  });
}

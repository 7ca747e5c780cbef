/** The functions for events as the CDK writes them; there are none where no context asks for one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Assembly, type Resource, synthesise } from './synthesise.ts';

/** Of the stack with both functions; the checks of cdk-nag are part of it, and end it where one fails. */
let assembly: Assembly;
beforeAll(async () => {
  const context = ['logGroups=/aws/lambda/shop,/ecs/web,/ecs/web', 'logsBucket=my-logs', 'eventTenant=acme'];
  assembly = await synthesise(
    ...[...context, 'eventLabels=env=prod,team=a'].flatMap(set => ['--context', set]),
  );
});
afterAll(() => assembly?.remove());

const ofEvents = (type: string): [string, Resource][] =>
  Object.entries(assembly.resources).filter(([id, { Type }]) => Type === type && id.startsWith('Events'));
const text = (value: unknown): string => JSON.stringify(value);
/** Id of what a value refers to. */
const idIn = (value: unknown): string =>
  /"(?:Ref|Fn::GetAtt)":\[?"([A-Za-z0-9]+)"/.exec(text(value))?.[1] ?? '';
const nameOf = (id: string): string => /^Events(cloudwatchlogs|s3objects)/.exec(id)?.[1] ?? id;

test('each runs on its own bundle with its tenant and its labels', () => {
  const functions = ofEvents('AWS::Lambda::Function');
  expect(functions.map(([id]) => nameOf(id)).sort()).toEqual(['cloudwatchlogs', 's3objects']);
  for (const [, { Properties }] of functions) {
    expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Handler: 'index.handler' });
    expect(Properties.Environment.Variables).toMatchObject({
      LOGBOOM_TENANT: 'acme',
      LOGBOOM_LABELS: 'env=prod,team=a',
    });
  }
  const keys = functions.map(([, { Properties }]) => Properties.Code.S3Key);
  expect(new Set(keys).size).toBe(2);
  for (const name of ['cloudwatch-logs', 's3-objects'])
    expect(existsSync(join(assembly.folder, 'source-maps', `${name}.mjs.map`))).toBe(true);
});

test('what fails for good lies in the queue of its function', () => {
  const configs = ofEvents('AWS::Lambda::EventInvokeConfig');
  expect(configs).toHaveLength(2);
  for (const [id, { Properties }] of configs) {
    const queueId = idIn(Properties.DestinationConfig.OnFailure.Destination);
    expect(nameOf(queueId)).toBe(nameOf(id));
    expect(nameOf(idIn(Properties.FunctionName))).toBe(nameOf(id));
    expect(assembly.resources[queueId]).toMatchObject({
      Type: 'AWS::SQS::Queue',
      Properties: { MessageRetentionPeriod: 14 * 24 * 3600, SqsManagedSseEnabled: true },
    });
  }
  const outputs = Object.entries(assembly.outputs).filter(([name]) => name.startsWith('Events'));
  expect(outputs.map(([, { Value }]) => nameOf(idIn(Value))).sort()).toEqual(['cloudwatchlogs', 's3objects']);
});

test('each may do what a push may, and read what it is for', () => {
  const grants: Record<string, Record<string, string[]>> = {};
  for (const [, { Properties }] of ofEvents('AWS::IAM::Policy')) {
    const name = nameOf(idIn(Properties.Roles[0]));
    for (const { Effect, Action, Resource } of Properties.PolicyDocument.Statement) {
      expect(Effect).toBe('Allow');
      const source = /:s3:::[^"]+/.exec(text(Resource))?.[0];
      const type = source ?? assembly.resources[idIn(Resource)].Type;
      expect(grants[name]?.[type]).toBeUndefined();
      grants[name] = { ...grants[name], [type]: [Action].flat().sort() };
    }
  }
  const push = {
    'AWS::Logs::LogGroup': ['logs:CreateLogStream', 'logs:PutLogEvents'],
    'AWS::S3::Bucket': ['s3:GetObject', 's3:PutObject'],
    'AWS::DynamoDB::Table': [
      'dynamodb:ConditionCheckItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
    ],
    'AWS::SQS::Queue': ['sqs:SendMessage'],
    // What was pushed is shown to live tails.
    'AWS::Lambda::Function': ['lambda:InvokeFunction'],
  };
  expect(grants).toEqual({
    cloudwatchlogs: push,
    s3objects: {
      ...push,
      ':s3:::my-logs/*': ['s3:GetObject', 's3:GetObjectVersion'],
      ':s3:::my-logs': ['s3:ListBucket'],
    },
  });
  for (const [, { Properties }] of ofEvents('AWS::IAM::Role'))
    expect([Properties.ManagedPolicyArns, Properties.Policies]).toEqual([undefined, undefined]);
});

test('each log group has one subscription, and it alone may call', () => {
  const filters = ofEvents('AWS::Logs::SubscriptionFilter').map(([, { Properties }]) => Properties);
  expect(filters.map(({ LogGroupName }) => LogGroupName).sort()).toEqual(['/aws/lambda/shop', '/ecs/web']);
  for (const { DestinationArn, FilterPattern } of filters)
    expect([nameOf(idIn(DestinationArn)), FilterPattern]).toEqual(['cloudwatchlogs', '']);
  const permissions = ofEvents('AWS::Lambda::Permission').map(([, { Properties }]) => [
    nameOf(idIn(Properties.FunctionName)),
    Properties.Principal,
    /log-group:[^"]*/.exec(text(Properties.SourceArn))?.[0] ??
      assembly.resources[idIn(Properties.SourceArn)].Type,
  ]);
  expect(permissions.sort((a, b) => (text(a) < text(b) ? -1 : 1))).toEqual([
    ['cloudwatchlogs', 'logs.amazonaws.com', 'log-group:/aws/lambda/shop:*'],
    ['cloudwatchlogs', 'logs.amazonaws.com', 'log-group:/ecs/web:*'],
    ['s3objects', 'events.amazonaws.com', 'AWS::Events::Rule'],
  ]);
});

test('new objects of the one bucket are told to the function, or to its queue', () => {
  const [[, { Properties }], ...others] = ofEvents('AWS::Events::Rule');
  expect(others).toEqual([]);
  expect(Properties.EventPattern).toEqual({
    source: ['aws.s3'],
    'detail-type': ['Object Created'],
    detail: { bucket: { name: ['my-logs'] } },
  });
  const [{ Arn, DeadLetterConfig }] = Properties.Targets;
  expect([nameOf(idIn(Arn)), assembly.resources[idIn(DeadLetterConfig.Arn)].Type]).toEqual([
    's3objects',
    'AWS::SQS::Queue',
  ]);
});

describe('a wrong setting ends it before anything is written', () => {
  test.each([
    ['no tenant', ['logGroups=/a'], /need eventTenant/],
    ['a label that is none', ['logsBucket=my-logs', 'eventTenant=a', 'eventLabels=b'], /takes name=value/],
  ])('%s', async (...[, context, message]) => {
    const args = context.flatMap(set => ['--context', set]);
    await expect(synthesise(...args)).rejects.toThrow(message);
  });
});

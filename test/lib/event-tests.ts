/** The functions for events, if the context enables them. */
import { describe, expect, test } from '@jest/globals';
import { type Built, idIn, type Resource } from './build.ts';

export function eventTests(built: () => Built): void {
  describe('functions for events', () => {
    const assembly = () => built().assemblies.full;
    const ofEvents = (type: string): [string, Resource][] =>
      assembly()
        .ofType(type)
        .filter(([id]) => id.startsWith('Events'));
    const text = (value: unknown): string => JSON.stringify(value);
    const nameOf = (id: string): string => /^Events(cloudwatchlogs|s3objects)/.exec(id)?.[1] ?? id;

    test('a stack has no functions for events by default', () => {
      const ids = Object.keys(built().assemblies.iam.resources);
      expect(ids.filter(id => id.startsWith('Events'))).toEqual([]);
    });

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
    });

    test('final failures are in the queue of the function', () => {
      const configs = ofEvents('AWS::Lambda::EventInvokeConfig');
      expect(configs).toHaveLength(2);
      for (const [id, { Properties }] of configs) {
        const queueId = idIn(Properties.DestinationConfig.OnFailure.Destination);
        expect(nameOf(queueId)).toBe(nameOf(id));
        expect(nameOf(idIn(Properties.FunctionName))).toBe(nameOf(id));
        expect(assembly().resources[queueId]).toMatchObject({
          Type: 'AWS::SQS::Queue',
          Properties: { MessageRetentionPeriod: 14 * 24 * 3600, SqsManagedSseEnabled: true },
        });
      }
      const outputs = Object.entries(assembly().outputs).filter(([name]) => name.startsWith('Events'));
      expect(outputs.map(([, { Value }]) => nameOf(idIn(Value))).sort()).toEqual([
        'cloudwatchlogs',
        's3objects',
      ]);
    });

    test('each has the rights of a push, and s3-objects may read its bucket', () => {
      const statementsOf = (name: string) =>
        ofEvents('AWS::IAM::Policy')
          .filter(([, { Properties }]) => nameOf(idIn(Properties.Roles[0])) === name)
          .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);
      const besides = statementsOf('s3objects').filter((one: object) => text(one).includes(':s3:::my-logs'));
      expect(besides.map(({ Action }: { Action: unknown }) => text(Action)).sort()).toEqual(
        [['s3:GetObject', 's3:GetObjectVersion'], 's3:ListBucket'].map(text).sort(),
      );
      // The CDK writes one statement for the right to list both buckets.
      const others = statementsOf('s3objects').filter(
        (one: { Action: unknown }) => !besides.includes(one) || one.Action === 's3:ListBucket',
      );
      const kinds = (statements: readonly { Action: unknown; Condition?: unknown }[]) =>
        statements.map(({ Action, Condition }) => text([Action, Condition])).sort();
      expect(kinds(others)).toEqual(kinds(statementsOf('cloudwatchlogs')));
      expect(text(others)).toContain('sqs:SendMessage');
    });

    test('each log group has one subscription, and it alone may call', () => {
      const filters = ofEvents('AWS::Logs::SubscriptionFilter').map(([, { Properties }]) => Properties);
      expect(filters.map(({ LogGroupName }) => LogGroupName).sort()).toEqual([
        '/aws/lambda/shop',
        '/ecs/web',
      ]);
      for (const { DestinationArn, FilterPattern } of filters)
        expect([nameOf(idIn(DestinationArn)), FilterPattern]).toEqual(['cloudwatchlogs', '']);
      const permissions = ofEvents('AWS::Lambda::Permission').map(([, { Properties }]) => [
        nameOf(idIn(Properties.FunctionName)),
        Properties.Principal,
        /log-group:[^"]*/.exec(text(Properties.SourceArn))?.[0] ??
          assembly().resources[idIn(Properties.SourceArn)].Type,
      ]);
      expect(permissions.sort((a, b) => (text(a) < text(b) ? -1 : 1))).toEqual([
        ['cloudwatchlogs', 'logs.amazonaws.com', 'log-group:/aws/lambda/shop:*'],
        ['cloudwatchlogs', 'logs.amazonaws.com', 'log-group:/ecs/web:*'],
        ['s3objects', 'events.amazonaws.com', 'AWS::Events::Rule'],
      ]);
    });

    test('new objects of the one bucket are reported to the function, or to its queue', () => {
      const [[, { Properties }], ...others] = ofEvents('AWS::Events::Rule');
      expect(others).toEqual([]);
      expect(Properties.EventPattern).toEqual({
        source: ['aws.s3'],
        'detail-type': ['Object Created'],
        detail: { bucket: { name: ['my-logs'] } },
      });
      const [{ Arn, DeadLetterConfig }] = Properties.Targets;
      expect([nameOf(idIn(Arn)), assembly().resources[idIn(DeadLetterConfig.Arn)].Type]).toEqual([
        's3objects',
        'AWS::SQS::Queue',
      ]);
    });
  });
}

/** Alarms, and the dashboard. */
import { describe, expect, test } from '@jest/globals';
import { type Assembly, type Built, functionOfId, idIn } from './build.ts';
import { VARIANTS } from './variants.ts';

/** Metric of an alarm, and the resource that it belongs to. */
function watched(assembly: Assembly): Map<string, Assembly['resources'][string]['Properties']> {
  const alarms = assembly.ofType('AWS::CloudWatch::Alarm').map(([, { Properties }]) => {
    const { MetricName, Namespace, ExtendedStatistic = '', Dimensions = [], Metrics } = Properties;
    if (Metrics !== undefined) {
      const { Label } = Metrics.find(({ Expression }: { Expression?: string }) => Expression !== undefined);
      return [Label as string, Properties] as const;
    }
    const of = Dimensions.map(
      ({ Value }: { Value: unknown }) => functionOfId(idIn(Value)) || idIn(Value),
    ).join();
    return [`${Namespace} ${MetricName}${ExtendedStatistic} ${of}`.replace('AWS/', ''), Properties] as const;
  });
  return new Map(alarms);
}

export function watchTests(built: () => Built): void {
  describe('alarms', () => {
    test('watch client errors and latency, each function, queues, and backlogs', () => {
      const { iam: assembly } = built().assemblies;
      const [[queueId]] = assembly.ofType('AWS::SQS::Queue');
      const functions = ['maintenance', 'push', 'query', 'query-worker', 'status', 'timer'];
      const tails = ['tail-connect', 'tail-default', 'tail-disconnect', 'tail-dispatch'];
      expect([...watched(assembly).keys()].sort()).toEqual(
        [
          'Lambda Durationp99 push',
          ...[...functions, ...tails].map(name => `Lambda Errors ${name}`),
          'throttled invocations',
          'Requests with 5xx (%)',
          `SQS ApproximateNumberOfMessagesVisible ${queueId}`,
          'Logboom BacklogAge maintenance',
          'Logboom CanarySuccess canary',
        ].sort(),
      );
    });

    test('an idle store rings nothing, and a canary that does not run does', () => {
      for (const [name, { TreatMissingData }] of watched(built().assemblies.iam))
        expect([name, TreatMissingData]).toEqual([
          name,
          name.includes('Canary') ? 'breaching' : 'notBreaching',
        ]);
    });

    test('waiting for a day is not a fault: days are outstanding until an hour after their end', () => {
      const { Threshold } = watched(built().assemblies.iam).get('Logboom BacklogAge maintenance')!;
      expect(Threshold).toBeGreaterThan(25 * 3600);
    });

    test('are sent to the given topic, to a topic of the stack for an address, or to none', () => {
      const { iam: silent, full, token } = built().assemblies;
      const actions = (assembly: Assembly) =>
        new Set(
          assembly
            .ofType('AWS::CloudWatch::Alarm')
            .map(([, { Properties }]) => JSON.stringify(Properties.AlarmActions)),
        );
      expect(actions(silent)).toEqual(new Set([undefined]));
      expect(actions(token)).toEqual(new Set([JSON.stringify([VARIANTS.token.alarmTopicArn])]));
      const [[topic]] = full.ofType('AWS::SNS::Topic');
      expect(actions(full)).toEqual(new Set([JSON.stringify([{ Ref: topic }])]));
      const [[, { Properties }]] = full.ofType('AWS::SNS::Subscription');
      expect(Properties).toMatchObject({ Protocol: 'email', Endpoint: VARIANTS.full.alarmEmail });
    });

    test('each has a text, and those of events and tokens are watched, too', () => {
      const { full, token } = built().assemblies;
      expect([...watched(full).keys()]).toEqual(
        expect.arrayContaining(['Lambda Errors cloudwatch-logs', 'Lambda Errors s3-objects']),
      );
      expect([...watched(token).keys()]).toContain('Lambda Errors authorizer');
      for (const { AlarmDescription } of watched(full).values())
        expect(AlarmDescription).toMatch(/^Logboom: ./);
      expect(full.ofType('AWS::SQS::Queue')).toHaveLength(3);
      const queues = [...watched(full).keys()].filter(name => name.startsWith('SQS'));
      expect(queues).toHaveLength(3);
    });
  });

  test('the dashboard shows the canary, pushes, queries and the backlog', () => {
    const [[, { Properties }]] = built().assemblies.iam.ofType('AWS::CloudWatch::Dashboard');
    const body = JSON.stringify(Properties.DashboardBody);
    for (const title of [
      'Canary',
      'Duration of pushes (ms)',
      'Duration of queries (ms)',
      'Backlog',
      'Failed invocations',
    ])
      expect(body).toContain(title);
  });

  test('the canary knows its endpoint and tenant, and signs for the host of the API if required', () => {
    const variablesOf = (assembly: Assembly) => {
      const [, { Properties }] = assembly
        .ofType('AWS::Lambda::Function')
        .find(([id]) => functionOfId(id) === 'canary')!;
      return Properties.Environment.Variables;
    };
    const { iam, full: none, token } = built().assemblies;
    expect(variablesOf(none)).toEqual({
      LOGBOOM_URL: `https://${VARIANTS.full.domain}`,
      LOGBOOM_TENANT: 'watch',
    });
    expect(idIn(variablesOf(iam).LOGBOOM_URL)).toMatch(/^EdgeDistribution/);
    expect(JSON.stringify(variablesOf(iam).LOGBOOM_SIGNING_HOST)).toContain('.execute-api.');
    expect(variablesOf(token).LOGBOOM_TOKEN_SECRET).toBe(VARIANTS.token.canarySecretArn);
  });
}

/**
 * Alarms, each for one state, with the steps to take in docs/reference/aws.md (runbook). Thresholds are
 * states that no healthy store is in, for several periods, because an alarm that resolves itself is worse
 * than none.
 */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { HttpCodeElb, HttpCodeTarget } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { CANARY_EVERY } from './canary.ts';
import type { WriteService } from './write-service.ts';

/** Namespace of functions/embedded-line.ts. */
const NAMESPACE = 'Logboom';
const PERIOD = Duration.minutes(5);
/**
 * Latency of a slow push. A push writes an object and a record in tenths of a second; cold starts take
 * longer, but are rarer than one in a hundred.
 */
const SLOW_PUSH_MS = 3_000;
/** CloudWatch accepts ten metrics per alarm. Event functions come last, and have alarms for their errors. */
const MAX_METRICS_OF_ALARM = 9;
/**
 * Functions whose calls may be refused. The query function runs tasks itself if the worker refuses them, and
 * clients do not miss the others.
 */
const MAY_BE_REFUSED = ['worker', 'tail-disconnect', 'tail-default'];
/**
 * Hours until a backlog is stuck. A day stays outstanding until an hour after its end (functions/backlog.ts).
 */
const STUCK_BACKLOG_HOURS = 30;

interface AlarmsProps {
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  /** Accepts pushes; undefined if functions do. */
  readonly write: Pick<WriteService, 'targets' | 'loadBalancer'> | undefined;
  readonly queues: readonly Queue[];
  readonly apiId: string;
  /** Undefined if there is no canary. */
  readonly canary: LambdaFunction | undefined;
  /** True if the maintenance function reports the age of its backlog. */
  readonly tellsBacklog: boolean;
}

interface AlarmOptions {
  readonly about: string;
  readonly metric: IMetric;
  /** Threshold: the alarm state is above it, for the canary below it. */
  readonly threshold: number;
  /** Number of periods, and how many of them must be beyond the threshold. */
  readonly of: number;
  readonly must: number;
}

export class Alarms extends Construct {
  readonly all: Alarm[] = [];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { functions, write, queues, apiId, canary, tellsBacklog } = props;
    this.#add('SlowPush', {
      about: `pushes are slow: the 99th percentile is above ${SLOW_PUSH_MS} ms`,
      metric: functions.push.metricDuration({ period: PERIOD, statistic: 'p99' }),
      threshold: SLOW_PUSH_MS,
      of: 3,
      must: 3,
    });
    if (write !== undefined) this.#addWrite(write);
    for (const [name, lambda] of Object.entries(functions)) {
      this.#add(`Errors ${name}`, {
        about: `invocations of the function ${name} fail`,
        metric: lambda.metricErrors({ period: PERIOD }),
        threshold: 0,
        of: 3,
        must: 2,
      });
    }
    this.#add('Throttled', {
      about: 'Lambda throttles functions: the concurrency of the account or of a reservation is used up',
      metric: throttles(functions),
      threshold: 0,
      of: 3,
      must: 2,
    });
    this.#add('ServerErrors', {
      about: 'the API returns 5xx for more than 1% of requests',
      metric: serverErrors(apiId),
      threshold: 1,
      of: 3,
      must: 2,
    });
    queues.forEach((queue, i) => {
      this.#add(`Failed ${i + 1}`, {
        about: 'failed invocations are waiting in a dead-letter queue',
        metric: queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
        threshold: 0,
        of: 1,
        must: 1,
      });
    });
    if (tellsBacklog) {
      this.#add('StuckBacklog', {
        about: `compaction is stuck: work has been pending for more than ${STUCK_BACKLOG_HOURS} hours`,
        metric: backlogAge(functions.maintenance),
        threshold: STUCK_BACKLOG_HOURS * 3600,
        of: 3,
        must: 3,
      });
    }
    if (canary !== undefined) this.#addCanary(canary);
  }

  #addWrite({ targets, loadBalancer }: NonNullable<AlarmsProps['write']>): void {
    const { metrics } = targets;
    this.#add('WriteSlow', {
      about: `pushes to the write service are slow: the 99th percentile is above ${SLOW_PUSH_MS} ms`,
      metric: metrics.targetResponseTime({ period: PERIOD, statistic: 'p99' }),
      threshold: SLOW_PUSH_MS / 1000,
      of: 3,
      must: 3,
    });
    this.#add('WriteErrors', {
      about: 'more than 1% of pushes to the write service fail: it returns 5xx, or no container responds',
      metric: new MathExpression({
        expression: '100 * (FILL(failed, 0) + FILL(refused, 0)) / requests',
        usingMetrics: {
          failed: metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { period: PERIOD }),
          refused: loadBalancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { period: PERIOD }),
          requests: metrics.requestCount({ period: PERIOD }),
        },
        label: 'Failed pushes (%)',
        period: PERIOD,
      }),
      threshold: 1,
      of: 3,
      must: 2,
    });
    this.#add('WriteUnhealthy', {
      about: 'a container of the write service is not ready',
      metric: metrics.unhealthyHostCount({ period: PERIOD, statistic: 'Minimum' }),
      threshold: 0,
      of: 3,
      must: 3,
    });
  }

  #add(id: string, { about, metric, threshold, of, must }: AlarmOptions): void {
    const alarm = new Alarm(this, id, {
      alarmDescription: `Logboom: ${about}`,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: of,
      datapointsToAlarm: must,
      // An unused store has no metrics.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.all.push(alarm);
  }

  /** Adds an alarm for the canary; a canary without metrics does not run. */
  #addCanary(canary: LambdaFunction): void {
    const alarm = new Alarm(this, 'Canary', {
      alarmDescription: 'Logboom: the canary does not read each pushed entry exactly once',
      metric: canarySuccess(canary),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 3,
      datapointsToAlarm: 2,
      treatMissingData: TreatMissingData.BREACHING,
    });
    this.all.push(alarm);
  }
}

function canarySuccess(canary: LambdaFunction): Metric {
  return figure(canary, 'CanarySuccess', 'Minimum', CANARY_EVERY);
}

function backlogAge(maintenance: LambdaFunction): Metric {
  return figure(maintenance, 'BacklogAge', 'Maximum', PERIOD);
}

/** Metric that a function reports. */
export function figure(lambda: LambdaFunction, name: string, statistic: string, period: Duration): Metric {
  const dimensionsMap = { FunctionName: lambda.functionName };
  return new Metric({ namespace: NAMESPACE, metricName: name, dimensionsMap, statistic, period });
}

/** Throttles of all functions that matter to clients. */
function throttles(functions: Readonly<Record<string, LambdaFunction>>): MathExpression {
  const named = Object.entries(functions)
    .filter(([name]) => !MAY_BE_REFUSED.includes(name))
    .slice(0, MAX_METRICS_OF_ALARM);
  const usingMetrics = Object.fromEntries(
    named.map(([, lambda], i) => [`m${i}`, lambda.metricThrottles({ period: PERIOD })]),
  );
  return new MathExpression({
    expression: Object.keys(usingMetrics).join(' + '),
    usingMetrics,
    label: 'throttled invocations',
    period: PERIOD,
  });
}

/** Server errors per 100 requests. */
export function serverErrors(apiId: string): MathExpression {
  const of = (metricName: string) =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiId: apiId },
      statistic: 'Sum',
      period: PERIOD,
    });
  return new MathExpression({
    expression: '100 * errors / requests',
    usingMetrics: { errors: of('5xx'), requests: of('Count') },
    label: 'Requests with 5xx (%)',
    period: PERIOD,
  });
}

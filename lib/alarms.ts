/**
 * What wakes somebody, each with the state that it tells of and what to look at (docs/reference/aws.md, runbook). An alarm that rings
 * for what cures itself is worse than none: so thresholds are states that no healthy store is in, for several periods.
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
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { CANARY_EVERY } from './canary.ts';

/** Of functions/embedded-line.ts. */
const NAMESPACE = 'Logboom';
const PERIOD = Duration.minutes(5);
/** A push writes an object and a record, some tenths of a second; cold starts are above, and rarer than one in a hundred. */
const SLOW_PUSH_MS = 3_000;
/** CloudWatch takes ten metrics in one alarm; functions of events come last, and have alarms for their errors. */
const MAX_METRICS_OF_ALARM = 9;
/** The query function does the parts itself that the worker refuses; without the others a client misses nothing. */
const MAY_BE_REFUSED = ['worker', 'tail-disconnect', 'tail-default'];
/** A day stays outstanding until an hour after its end (functions/backlog.ts). */
const STUCK_BACKLOG_HOURS = 30;

export interface AlarmsProps {
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  readonly queues: readonly Queue[];
  readonly apiId: string;
  /** Undefined: there is none. */
  readonly canary: LambdaFunction | undefined;
  /** Whether the maintenance function tells how long work waits. */
  readonly tellsBacklog: boolean;
}

interface AlarmOptions {
  readonly about: string;
  readonly metric: IMetric;
  /** The alarm is above it; the canary's below. */
  readonly threshold: number;
  /** Periods, and how many of them must be beyond the threshold. */
  readonly of: number;
  readonly must: number;
}

export class Alarms extends Construct {
  readonly all: Alarm[] = [];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { functions, queues, apiId, canary, tellsBacklog } = props;
    this.#add('SlowPush', {
      about: `pushes are acknowledged late: 1 of 100 takes more than ${SLOW_PUSH_MS} ms`,
      metric: functions.push.metricDuration({ period: PERIOD, statistic: 'p99' }),
      threshold: SLOW_PUSH_MS,
      of: 3,
      must: 3,
    });
    for (const [name, lambda] of Object.entries(functions)) {
      this.#add(`Errors ${name}`, {
        about: `calls of the function ${name} fail`,
        metric: lambda.metricErrors({ period: PERIOD }),
        threshold: 0,
        of: 3,
        must: 2,
      });
    }
    this.#add('Throttled', {
      about: 'calls of functions are refused: the account or a reservation has no more',
      metric: throttles(functions),
      threshold: 0,
      of: 3,
      must: 2,
    });
    this.#add('ServerErrors', {
      about: 'the API answers 5xx, to more than 1 of 100 requests',
      metric: serverErrors(apiId),
      threshold: 1,
      of: 3,
      must: 2,
    });
    queues.forEach((queue, i) => {
      this.#add(`Failed ${i + 1}`, {
        about: 'calls that came to nothing lie in a queue',
        metric: queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
        threshold: 0,
        of: 1,
        must: 1,
      });
    });
    if (tellsBacklog) {
      this.#add('StuckBacklog', {
        about: `work waits for more than ${STUCK_BACKLOG_HOURS} hours: compaction is stuck`,
        metric: backlogAge(functions.maintenance),
        threshold: STUCK_BACKLOG_HOURS * 3600,
        of: 3,
        must: 3,
      });
    }
    if (canary !== undefined) this.#addCanary(canary);
  }

  #add(id: string, { about, metric, threshold, of, must }: AlarmOptions): void {
    const alarm = new Alarm(this, id, {
      alarmDescription: `Logboom: ${about}`,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: of,
      datapointsToAlarm: must,
      // A store that nobody uses has no figures.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.all.push(alarm);
  }

  /** A canary that tells nothing is a canary that does not run. */
  #addCanary(canary: LambdaFunction): void {
    const alarm = new Alarm(this, 'Canary', {
      alarmDescription: 'Logboom: entries that were pushed cannot be read back, each once',
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

export function canarySuccess(canary: LambdaFunction): Metric {
  return figure(canary, 'CanarySuccess', 'Minimum', CANARY_EVERY);
}

export function backlogAge(maintenance: LambdaFunction): Metric {
  return figure(maintenance, 'BacklogAge', 'Maximum', PERIOD);
}

/** A figure that a function tells of itself. */
export function figure(lambda: LambdaFunction, name: string, statistic: string, period: Duration): Metric {
  const dimensionsMap = { FunctionName: lambda.functionName };
  return new Metric({ namespace: NAMESPACE, metricName: name, dimensionsMap, statistic, period });
}

/** Of all functions together that matter to clients. */
export function throttles(functions: Readonly<Record<string, LambdaFunction>>): MathExpression {
  const named = Object.entries(functions)
    .filter(([name]) => !MAY_BE_REFUSED.includes(name))
    .slice(0, MAX_METRICS_OF_ALARM);
  const usingMetrics = Object.fromEntries(
    named.map(([, lambda], i) => [`m${i}`, lambda.metricThrottles({ period: PERIOD })]),
  );
  return new MathExpression({
    expression: Object.keys(usingMetrics).join(' + '),
    usingMetrics,
    label: 'refused calls',
    period: PERIOD,
  });
}

/** Of a hundred requests. */
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
    label: '5xx of 100 requests',
    period: PERIOD,
  });
}

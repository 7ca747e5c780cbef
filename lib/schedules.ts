/**
 * Timer of an account (EventBridge Scheduler), and the queue for failed calls: those that the scheduler could
 * not deliver, and asynchronous calls whose function failed.
 *
 * Pitfall: the scheduler calls asynchronously, and its own retries only concern delivery. Retries of failed
 * runs are a setting of the function. There are none here, because the next tick comes anyway.
 */

import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEventInvokeConfig, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { MS_PER_MINUTE } from '../shared/base/model/time-units.ts';

/** Maximum event age. A tick that arrives after the next one is useless. */
const MAX_EVENT_AGE = Duration.minutes(5);
const MAX_DELIVERY_RETRIES = 3;
/** Maximum retention, to leave time for an investigation. */
const KEPT = Duration.days(14);

export class FailedCalls extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEPT,
    });
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is a dead-letter queue; no program reads it.',
    });
  }

  /** Sends failed calls of the function here, without retries. */
  takeFrom(lambda: LambdaFunction, maxEventAge = MAX_EVENT_AGE): void {
    const { queueArn } = this.queue;
    const send = new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queueArn] });
    const { policyDependable } = lambda.grantPrincipal.addToPrincipalPolicy(send);
    const config = new CfnEventInvokeConfig(lambda, 'OnFailure', {
      functionName: lambda.functionName,
      qualifier: '$LATEST',
      maximumRetryAttempts: 0,
      maximumEventAgeInSeconds: maxEventAge.toSeconds(),
      destinationConfig: { onFailure: { destination: queueArn } },
    });
    // Lambda checks the function's right to send when it accepts the setting.
    if (policyDependable !== undefined) config.node.addDependency(policyDependable);
  }
}

interface TimerProps {
  readonly lambda: LambdaFunction;
  readonly failed: FailedCalls;
}

interface Tick {
  readonly description: string;
  readonly everyMs: number;
  /** Event of the call. */
  readonly event: object;
}

/** Calls one function at several intervals. */
export class Timer extends Construct {
  readonly #props: TimerProps;
  readonly #role: Role;

  constructor(scope: Construct, id: string, props: TimerProps) {
    super(scope, id);
    this.#props = props;
    this.#role = new Role(this, 'Role', {
      // Excludes schedules of other accounts that name this role.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    });
    const { lambda, failed } = props;
    for (const [action, resource] of [
      ['lambda:InvokeFunction', lambda.functionArn],
      ['sqs:SendMessage', failed.queue.queueArn],
    ]) {
      this.#role.addToPolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
    }
  }

  add(id: string, { description, everyMs, event }: Tick): void {
    const { lambda, failed } = this.#props;
    new CfnSchedule(this, id, {
      description: `Logboom: ${description}`,
      scheduleExpression: rateOf(everyMs),
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: lambda.functionArn,
        roleArn: this.#role.roleArn,
        input: JSON.stringify(event),
        retryPolicy: {
          maximumRetryAttempts: MAX_DELIVERY_RETRIES,
          maximumEventAgeInSeconds: MAX_EVENT_AGE.toSeconds(),
        },
        deadLetterConfig: { arn: failed.queue.queueArn },
      },
    }).node.addDependency(this.#role);
  }
}

/** Schedule expression. Schedules have minute precision, so shorter intervals become one minute. */
function rateOf(everyMs: number): string {
  const minutes = Math.max(1, Math.round(everyMs / MS_PER_MINUTE));
  return minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`;
}

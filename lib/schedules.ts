/**
 * The timer of an account, EventBridge Scheduler, and the queue where calls end that came to nothing: what the scheduler could
 * not deliver, and what a function that was called without anybody waiting failed at.
 *
 * What a reader would get wrong: the scheduler's call is asynchronous. Its own retries are about delivery alone; what is
 * repeated where a run fails is a setting of the function. Here it is nothing: the next tick comes by itself.
 */
import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEventInvokeConfig, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** A tick that comes later than the next one is of no use. */
const MAX_EVENT_AGE = Duration.minutes(5);
const MAX_DELIVERY_RETRIES = 3;
/** The most there is: time to look at what failed. */
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
      reason: 'It is itself where failed calls end; nothing reads it but people.',
    });
  }

  /** Failed calls of the function end here, and are not repeated. */
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
    // Lambda looks whether the function may send before it takes the setting.
    if (policyDependable !== undefined) config.node.addDependency(policyDependable);
  }
}

export interface TimerProps {
  readonly lambda: LambdaFunction;
  readonly failed: FailedCalls;
}

export interface Tick {
  readonly description: string;
  readonly everyMs: number;
  /** What the function is called with. */
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
      // Not schedules of other accounts that name this role.
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

/** Schedules know minutes: what is asked for more often comes every minute. */
export function rateOf(everyMs: number): string {
  const minutes = Math.max(1, Math.round(everyMs / 60_000));
  return minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`;
}

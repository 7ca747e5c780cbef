/**
 * The timer of an account: EventBridge Scheduler calls the maintenance function once for each job and interval, with the
 * name of the job. What it cannot deliver, and what fails altogether, ends in one queue, and an alarm tells of it.
 *
 * What a reader would get wrong: the scheduler's call is asynchronous. Its own retries are about delivery alone; what is
 * repeated where a run fails is a setting of the function. Here it is nothing: the next tick comes by itself.
 */
import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { Alarm, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEventInvokeConfig, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { ScheduledEvent } from '../functions/scheduled-event.ts';
import type { Schedule } from '../shared/maintenance/maintenance.ts';

export interface MaintenanceSchedulesProps {
  readonly lambda: LambdaFunction;
  readonly schedules: readonly Schedule[];
}

/** A tick that comes later than the next one is of no use. */
const MAX_EVENT_AGE = Duration.minutes(5);
const MAX_DELIVERY_RETRIES = 3;
/** The most there is: time to look at what failed. */
const KEPT = Duration.days(14);

export class MaintenanceSchedules extends Construct {
  constructor(scope: Construct, id: string, { lambda, schedules }: MaintenanceSchedulesProps) {
    super(scope, id);
    const failed = this.createQueue();
    const role = this.createRole(lambda, failed);
    for (const { job, everyMs } of schedules) {
      const event: ScheduledEvent = { job };
      new CfnSchedule(this, job, {
        description: `Logboom: calls the job ${job}`,
        scheduleExpression: rateOf(everyMs),
        flexibleTimeWindow: { mode: 'OFF' },
        target: {
          arn: lambda.functionArn,
          roleArn: role.roleArn,
          input: JSON.stringify(event),
          retryPolicy: {
            maximumRetryAttempts: MAX_DELIVERY_RETRIES,
            maximumEventAgeInSeconds: MAX_EVENT_AGE.toSeconds(),
          },
          deadLetterConfig: { arn: failed.queueArn },
        },
      }).node.addDependency(role);
    }
    this.sendFailures(lambda, failed);
    new Alarm(this, 'FailedAlarm', {
      alarmDescription: 'Logboom: a scheduled job failed altogether, or could not be called',
      metric: failed.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  private createQueue(): Queue {
    const queue = new Queue(this, 'Failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEPT,
    });
    Validations.of(queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is itself where failed calls end; nothing reads it but people.',
    });
    return queue;
  }

  private createRole({ functionArn }: LambdaFunction, { queueArn }: Queue): Role {
    const role = new Role(this, 'Role', {
      // Not schedules of other accounts that name this role.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    });
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] }));
    role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queueArn] }));
    return role;
  }

  private sendFailures(lambda: LambdaFunction, { queueArn }: Queue): void {
    const send = new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queueArn] });
    const { policyDependable } = lambda.grantPrincipal.addToPrincipalPolicy(send);
    const config = new CfnEventInvokeConfig(this, 'OfFunction', {
      functionName: lambda.functionName,
      qualifier: '$LATEST',
      maximumRetryAttempts: 0,
      maximumEventAgeInSeconds: MAX_EVENT_AGE.toSeconds(),
      destinationConfig: { onFailure: { destination: queueArn } },
    });
    // Lambda looks whether the function may send before it takes the setting.
    if (policyDependable !== undefined) config.node.addDependency(policyDependable);
  }
}

/** Schedules know minutes: what is asked for more often comes every minute. */
export function rateOf(everyMs: number): string {
  const minutes = Math.max(1, Math.round(everyMs / 60_000));
  return minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`;
}

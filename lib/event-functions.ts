/**
 * The functions that AWS services call with events: subscriptions of CloudWatch Logs, and log files in a bucket, of
 * which EventBridge tells. Each has the rights of a push, and what it must read besides.
 *
 * A reader would get wrong:
 *  - Both services call without waiting for an answer. Lambda itself repeats what fails, twice; what then has not been
 *    stored lies in the queue of the function, with the event, for two weeks.
 *  - The bucket must send its events to EventBridge, which is a setting of the bucket and not of this stack. A
 *    notification of S3 would need a function that may change the settings of buckets.
 *  - Without the right to list a bucket S3 answers 403 and not 404 for an object that is gone, which looks like an error
 *    that a repeat may cure.
 */
import { CfnOutput, Duration, Validations } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, LogGroup, SubscriptionFilter } from 'aws-cdk-lib/aws-logs';
import { LambdaDestination } from 'aws-cdk-lib/aws-logs-destinations';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EventFunctionName } from '../functions/groups.ts';
import { ApiFunction, type StorePlace } from './api-function.ts';
import { type EventSettings, eventFunctionsOf } from './event-settings.ts';
import { FUNCTION_CLASSES, type FunctionClass } from './function-classes.ts';

export interface EventFunctionsProps {
  readonly settings: EventSettings;
  /** Folder of the bundle of each function that is asked for. */
  readonly code: Readonly<Partial<Record<EventFunctionName, string>>>;
  readonly place: StorePlace;
  /** Called with each function, which stores what live tails show. */
  readonly onFunction?: (name: EventFunctionName, lambda: ApiFunction['lambda'], failed: Queue) => void;
}

const EVENT_CLASSES: Readonly<Record<EventFunctionName, FunctionClass>> = {
  'cloudwatch-logs': {
    ...FUNCTION_CLASSES.push,
    description: 'Stores what CloudWatch Logs sends',
    timeout: Duration.minutes(1),
  },
  's3-objects': {
    ...FUNCTION_CLASSES.push,
    description: 'Stores the log files of a bucket',
    // Lambda's most: a file is read in batches, and may be of gigabytes.
    timeout: Duration.minutes(15),
  },
};
/** As long as a queue may keep it: time to mend what was wrong and send the events again. */
const FAILED_EVENT_RETENTION = Duration.days(14);

export class EventFunctions extends Construct {
  constructor(scope: Construct, id: string, props: EventFunctionsProps) {
    super(scope, id);
    const { settings } = props;
    for (const name of eventFunctionsOf(settings)) {
      const { lambda, queue } = this.#addFunction(name, props);
      props.onFunction?.(name, lambda, queue);
      if (name === 'cloudwatch-logs') subscribe(this, lambda, settings.logGroups);
      else readBucket(this, lambda, queue, settings.bucketName);
      const description = `Events that ${name} could not store`;
      new CfnOutput(this, `${name}-failed-url`, { description, value: queue.queueUrl });
    }
  }

  #addFunction(
    name: EventFunctionName,
    { settings, code, place }: EventFunctionsProps,
  ): { lambda: ApiFunction['lambda']; queue: Queue } {
    const folder = code[name];
    if (folder === undefined) throw new Error(`there is no bundle of ${name}`);
    const { lambda } = new ApiFunction(this, name, {
      name,
      functionClass: EVENT_CLASSES[name],
      code: folder,
      place,
      environment: {
        LOGBOOM_TENANT: settings.tenant,
        ...(settings.labels === '' ? {} : { LOGBOOM_LABELS: settings.labels }),
      },
    });
    const queue = new Queue(this, `${name}-failed`, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: FAILED_EVENT_RETENTION,
    });
    Validations.of(queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is the queue for what failed; nobody takes from it but people.',
    });
    // Not SqsDestination, which also grants to look at the queue.
    lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }),
    );
    lambda.configureAsyncInvoke({ onFailure: { bind: () => ({ destination: queue.queueArn }) } });
    return { lambda, queue };
  }
}

function subscribe(scope: Construct, lambda: ApiFunction['lambda'], logGroups: readonly string[]): void {
  for (const name of logGroups) {
    new SubscriptionFilter(scope, `Subscription ${name.replaceAll('/', ':')}`, {
      logGroup: LogGroup.fromLogGroupName(scope, `LogGroup ${name.replaceAll('/', ':')}`, name),
      destination: new LambdaDestination(lambda),
      filterPattern: FilterPattern.allEvents(),
    });
  }
}

function readBucket(scope: Construct, lambda: ApiFunction['lambda'], queue: Queue, bucketName: string): void {
  const source = Bucket.fromBucketName(scope, 'LogsBucket', bucketName);
  const role = lambda.role as Role;
  const objects = source.arnForObjects('*');
  role.addToPolicy(
    new PolicyStatement({ actions: ['s3:GetObject', 's3:GetObjectVersion'], resources: [objects] }),
  );
  role.addToPolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [source.bucketArn] }));
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${bucketName}/*]`,
    reason: 'The function stores every log file that appears in this bucket.',
  });
  new Rule(scope, 'LogFiles', {
    description: 'Logboom: a log file appeared',
    eventPattern: {
      source: ['aws.s3'],
      detailType: ['Object Created'],
      detail: { bucket: { name: [bucketName] } },
    },
    targets: [new LambdaTarget(lambda, { deadLetterQueue: queue })],
  });
}

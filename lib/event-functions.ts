/**
 * Functions that AWS services call with events: subscriptions of CloudWatch Logs, and log files in a bucket,
 * announced by EventBridge. Each has the rights of a push, and those for reading its source.
 *
 * Pitfalls: - Both services call asynchronously. Lambda retries failures twice. What is then not stored stays
 * in the function's queue, with the event, for two weeks. - The bucket must send its events to EventBridge.
 * That is a setting of the bucket, not of this stack: an S3 notification would need a function that may
 * change bucket settings. - Without the right to list a bucket, S3 answers 403 instead of 404 for a deleted
 * object, which looks like an error that a retry may fix.
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
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import { type EventSettings, eventFunctionsOf } from './event-settings.ts';
import { FUNCTION_CLASSES, type FunctionClass } from './function-classes.ts';

interface EventFunctionsProps {
  readonly settings: EventSettings;
  /** Bundle folder of each enabled function. */
  readonly code: Readonly<Partial<Record<EventFunctionName, string>>>;
  readonly shared: SharedFunctionProps;
  /** Called with each function, because it stores entries that live tails show. */
  readonly onFunction?: (name: EventFunctionName, lambda: ApiFunction['lambda'], failed: Queue) => void;
}

const EVENT_CLASSES: Readonly<Record<EventFunctionName, FunctionClass>> = {
  'cloudwatch-logs': {
    ...FUNCTION_CLASSES.push,
    description: 'Stores events of CloudWatch Logs',
    timeout: Duration.minutes(1),
  },
  's3-objects': {
    ...FUNCTION_CLASSES.push,
    description: 'Stores the log files of a bucket',
    // Maximum of Lambda: a file is read in batches, and may have gigabytes.
    timeout: Duration.minutes(15),
  },
};
/** Maximum of a queue: time to fix the problem and send the events again. */
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
    { settings, code, shared }: EventFunctionsProps,
  ): { lambda: ApiFunction['lambda']; queue: Queue } {
    const folder = code[name];
    if (folder === undefined) throw new Error(`the bundle of ${name} is missing`);
    const { lambda } = new ApiFunction(this, name, {
      name,
      functionClass: EVENT_CLASSES[name],
      code: folder,
      shared,
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
      reason: 'It is a dead-letter queue; no program reads it.',
    });
    // SqsDestination would also grant reading the queue attributes.
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

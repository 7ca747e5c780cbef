/** Where the data lies: a bucket for chunks, a table for their records. Both outlive the stack. */
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { PARTITION_KEY, SORT_KEY, TIME_TO_LIVE } from '../shared/aws/dynamodb-item.ts';

export function createBucket(scope: Construct): Bucket {
  const bucket = new Bucket(scope, 'Chunks', {
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    // Objects are written once and never changed: a version would only keep what was deleted on purpose.
    versioned: false,
    lifecycleRules: [
      { id: 'parts-of-broken-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    removalPolicy: RemovalPolicy.RETAIN,
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'Every chunk is read often, and a log of it would cost more than the reads; CloudTrail can record them.',
  });
  return bucket;
}

export function createTable(scope: Construct): Table {
  return new Table(scope, 'Catalog', {
    partitionKey: { name: PARTITION_KEY, type: AttributeType.STRING },
    sortKey: { name: SORT_KEY, type: AttributeType.STRING },
    timeToLiveAttribute: TIME_TO_LIVE,
    // A store that nobody uses costs nothing but its bytes.
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryption: TableEncryption.AWS_MANAGED,
    // Small pushes, delete requests and rules lie in the table alone.
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
}

/**
 * Where the data lies: a bucket for chunks, a table for their records. By default both outlive the stack.
 * Deletion protection of the table is a setting, because a failed first deployment must be able to delete it.
 *
 * What a reader would get wrong: compaction deletes what it has packed, so with versioning the bucket holds that too, for as
 * long as the life cycle says, and is paid for it. It helps against a mistake of people or of the program, and nothing else.
 */
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { PARTITION_KEY, SORT_KEY, TIME_TO_LIVE } from '../shared/aws/dynamodb-item.ts';
import type { Removal, Settings } from './settings.ts';

export interface StorageProps {
  readonly settings: Pick<Settings, 'versioning' | 'noncurrentDays' | 'removal' | 'deletionProtection'>;
  /** Undefined: the keys of AWS. */
  readonly key: IKey | undefined;
}

export function createBucket(scope: Construct, { settings, key }: StorageProps): Bucket {
  const { versioning, noncurrentDays, removal } = settings;
  const bucket = new Bucket(scope, 'Chunks', {
    ...privateBucket(),
    ...(key === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : // One call of the key for many objects: a push would pay for each of its own.
        { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
    // Objects are written once and never changed: a version would only keep what was deleted on purpose.
    versioned: versioning,
    lifecycleRules: [
      { id: 'parts-of-broken-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ...(versioning ? [deletedAfter(noncurrentDays)] : []),
    ],
    removalPolicy: policyOf(removal),
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'Every chunk is read often, and a log of it would cost more than the reads; CloudTrail can record them.',
  });
  return bucket;
}

/** What every bucket of the stack has. */
export function privateBucket() {
  return {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
  };
}

/** What was deleted goes for good, and so does the mark that it leaves. */
function deletedAfter(days: number): LifecycleRule {
  return {
    id: 'deleted-objects',
    noncurrentVersionExpiration: Duration.days(days),
    expiredObjectDeleteMarker: true,
  };
}

/** What is kept goes all the same if the deployment that creates it fails: it holds nothing, and would be in the way. */
function policyOf(removal: Removal): RemovalPolicy {
  return removal === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}

export function createTable(scope: Construct, { settings, key }: StorageProps): Table {
  return new Table(scope, 'Catalog', {
    partitionKey: { name: PARTITION_KEY, type: AttributeType.STRING },
    sortKey: { name: SORT_KEY, type: AttributeType.STRING },
    timeToLiveAttribute: TIME_TO_LIVE,
    // A store that nobody uses costs nothing but its bytes.
    billingMode: BillingMode.PAY_PER_REQUEST,
    ...(key === undefined
      ? { encryption: TableEncryption.AWS_MANAGED }
      : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
    // Small pushes, delete requests and rules lie in the table alone.
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    // A protected table could not be taken back by a first deployment that fails.
    deletionProtection: settings.deletionProtection,
    removalPolicy: policyOf(settings.removal),
  });
}

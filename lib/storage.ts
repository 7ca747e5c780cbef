/**
 * Storage: a bucket for chunks, and a table for their records. By default, both outlive the stack. Deletion
 * protection of the table is a setting, because a failed first deployment must be able to delete it.
 *
 * Pitfall: compaction deletes merged inputs. With versioning, the bucket keeps and charges them until the
 * lifecycle rule deletes them. Versioning only helps against mistakes of people or of the program.
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
import type { RemovalSetting, Settings } from './settings.ts';

interface StorageProps {
  readonly settings: Pick<Settings, 'versioning' | 'noncurrentDays' | 'removal' | 'deletionProtection'>;
  /** Undefined uses AWS keys. */
  readonly key: IKey | undefined;
}

export function createBucket(scope: Construct, { settings, key }: StorageProps): Bucket {
  const { versioning, noncurrentDays, removal } = settings;
  const bucket = new Bucket(scope, 'Chunks', {
    ...privateBucket(),
    ...(key === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : // One key call for many objects; otherwise each push would pay for its own.
        { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
    // Objects are written once and never changed: a version would only keep deliberate deletions.
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

/** Properties of every bucket of the stack. */
export function privateBucket() {
  return {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
  };
}

/** Deletes noncurrent versions permanently, and their delete markers. */
function deletedAfter(days: number): LifecycleRule {
  return {
    id: 'deleted-objects',
    noncurrentVersionExpiration: Duration.days(days),
    expiredObjectDeleteMarker: true,
  };
}

/**
 * Removal policy. A retained resource is still deleted if the deployment that creates it fails: it is empty,
 * and would block the next attempt.
 */
function policyOf(removal: RemovalSetting): RemovalPolicy {
  return removal === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}

export function createTable(scope: Construct, { settings, key }: StorageProps): Table {
  return new Table(scope, 'Catalog', {
    partitionKey: { name: PARTITION_KEY, type: AttributeType.STRING },
    sortKey: { name: SORT_KEY, type: AttributeType.STRING },
    timeToLiveAttribute: TIME_TO_LIVE,
    // An unused store costs only its bytes.
    billingMode: BillingMode.PAY_PER_REQUEST,
    ...(key === undefined
      ? { encryption: TableEncryption.AWS_MANAGED }
      : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
    // Small pushes, delete requests and rules are only in the table.
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    // A failed first deployment could not delete a protected table.
    deletionProtection: settings.deletionProtection,
    removalPolicy: policyOf(settings.removal),
  });
}

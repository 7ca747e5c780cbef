/** Opens both ports on AWS from a few names, for the functions and the local process. */
import type { Clock, Ids } from '../base/ports/clock.ts';
import type { ObjectStore } from '../base/ports/object-store.ts';
import type { Table } from '../base/ports/table.ts';
import { createCaller, DYNAMODB_LIMITS, S3_LIMITS } from './caller.ts';
import { createDynamoDbClient, createS3Client } from './clients.ts';
import { dynamoDbTable } from './dynamodb-table.ts';
import { createHedger, PUT_HEDGES, TRANSACTION_HEDGES, withHedgedReads } from './hedge.ts';
import { checkBucket, checkTable, createBucketIfMissing, createTableIfMissing } from './provision.ts';
import { s3ObjectStore } from './s3-object-store.ts';

interface AwsStorageOptions {
  readonly bucket: string;
  readonly table: string;
  /** Endpoint of both services other than AWS, for example `http://localhost:4566`. */
  readonly endpoint?: string;
  /** Endpoint of DynamoDB if it differs from `endpoint`, for example DynamoDB Local. */
  readonly dynamoDbEndpoint?: string;
  readonly region?: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface AwsStorage {
  readonly store: ObjectStore;
  readonly table: Table;
  /** Throws StorageSetupError if the bucket or the table is missing or unsuitable. */
  check(): Promise<void>;
  /** Creates the bucket and the table if missing. */
  createMissing(): Promise<void>;
  /** Aborts running calls with an error and closes the connections. */
  close(): void;
}

/** Opens both ports without sending a request, so a function can do it at its start. */
export function openAwsStorage(options: AwsStorageOptions): AwsStorage {
  const { bucket, table: tableName, endpoint, dynamoDbEndpoint = endpoint, region, clock, ids } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const s3 = createS3Client({ region, endpoint });
  const dynamoDb = createDynamoDbClient({ region, endpoint: dynamoDbEndpoint });
  const callS3 = createCaller({ clock, limits: S3_LIMITS, signal });
  const callDynamoDb = createCaller({ clock, limits: DYNAMODB_LIMITS, signal });
  const puts = createHedger({ clock, ...PUT_HEDGES });
  const transactions = createHedger({ clock, ...TRANSACTION_HEDGES });
  return {
    store: withHedgedReads(s3ObjectStore({ client: s3, bucket, call: callS3, ids, puts }), { clock }),
    table: dynamoDbTable({ client: dynamoDb, tableName, call: callDynamoDb, ids, clock, transactions }),

    async check() {
      await both([checkBucket(s3, bucket, callS3), checkTable(dynamoDb, tableName, callDynamoDb)]);
    },

    async createMissing() {
      await both([
        createBucketIfMissing(s3, bucket, callS3),
        createTableIfMissing(dynamoDb, tableName, { call: callDynamoDb, clock }),
      ]);
    },

    close() {
      closing.abort();
      s3.destroy();
      dynamoDb.destroy();
    },
  };
}

/** Waits for both, so that no work continues after an error. Throws the first error. */
async function both(work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

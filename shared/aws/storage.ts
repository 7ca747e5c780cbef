/** Opens both ports on AWS from a few names, for the functions and the local process. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Clock, Ids } from '../base/ports/clock.ts';
import type { ObjectStore } from '../base/ports/object-store.ts';
import type { Table } from '../base/ports/table.ts';
import { createCaller, DYNAMODB_LIMITS, S3_LIMITS } from './caller.ts';
import { createDynamoDbRequests } from './dynamodb-requests.ts';
import { dynamoDbTable } from './dynamodb-table.ts';
import { createHedger, PUT_HEDGES, TRANSACTION_HEDGES, withHedgedReads } from './hedge.ts';
import { s3ObjectStore } from './s3-object-store.ts';
import { createS3Requests } from './s3-requests.ts';

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

interface Clients {
  readonly s3: S3Client;
  readonly dynamoDb: DynamoDBClient;
}

/** Opens both ports without sending a request, so a function can do it at its start. */
export function openAwsStorage(options: AwsStorageOptions): AwsStorage {
  const { bucket, table: tableName, endpoint, dynamoDbEndpoint = endpoint, region, clock, ids } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const s3 = createS3Requests(bucket, { region, endpoint });
  const dynamoDb = createDynamoDbRequests(tableName, { region, endpoint: dynamoDbEndpoint });
  const callS3 = createCaller({ clock, limits: S3_LIMITS, signal });
  const callDynamoDb = createCaller({ clock, limits: DYNAMODB_LIMITS, signal });
  const puts = createHedger({ clock, ...PUT_HEDGES });
  const transactions = createHedger({ clock, ...TRANSACTION_HEDGES });
  /** Loads the SDK, which only a start of a process needs. */
  const withClients = async (
    work: (clients: Clients, provision: typeof import('./provision.ts')) => readonly Promise<void>[],
  ): Promise<void> => {
    const [{ createDynamoDbClient, createS3Client }, provision] = await Promise.all([
      import('./clients.ts'),
      import('./provision.ts'),
    ]);
    const clients = {
      s3: createS3Client({ region, endpoint }),
      dynamoDb: createDynamoDbClient({ region, endpoint: dynamoDbEndpoint }),
    };
    try {
      await both(work(clients, provision));
    } finally {
      clients.s3.destroy();
      clients.dynamoDb.destroy();
    }
  };
  return {
    store: withHedgedReads(s3ObjectStore({ requests: s3, bucket, call: callS3, ids, puts }), { clock }),
    table: dynamoDbTable({ requests: dynamoDb, tableName, call: callDynamoDb, ids, clock, transactions }),

    async check() {
      await withClients((clients, { checkBucket, checkTable }) => [
        checkBucket(clients.s3, bucket, callS3),
        checkTable(clients.dynamoDb, tableName, callDynamoDb),
      ]);
    },

    async createMissing() {
      await withClients((clients, { createBucketIfMissing, createTableIfMissing }) => [
        createBucketIfMissing(clients.s3, bucket, callS3),
        createTableIfMissing(clients.dynamoDb, tableName, { call: callDynamoDb, clock }),
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

/**
 * The emulators that scripts/test-aws.mjs started, by environment variables. These tests run through it alone: without
 * an emulator a test here fails instead of passing by doing nothing.
 */
import { randomBytes } from 'node:crypto';
import { createCaller, DYNAMODB_LIMITS, S3_LIMITS } from '../../../shared/aws/caller.ts';
import { createDynamoDbClient, createS3Client } from '../../../shared/aws/clients.ts';
import { createDynamoDbRequests } from '../../../shared/aws/dynamodb-requests.ts';
import { dynamoDbTable } from '../../../shared/aws/dynamodb-table.ts';
import { createBucketIfMissing, createTableIfMissing } from '../../../shared/aws/provision.ts';
import { s3ObjectStore } from '../../../shared/aws/s3-object-store.ts';
import { createS3Requests } from '../../../shared/aws/s3-requests.ts';
import type { Clock } from '../../../shared/base/ports/clock.ts';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import type { Table } from '../../../shared/base/ports/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../../shared/base/runtime/system-clock.ts';

interface Place {
  readonly name: string;
  readonly endpoint: string;
}

const MINISTACK = place('MiniStack', 'LOGBOOM_TEST_MINISTACK');
const DYNAMODB_LOCAL = place('DynamoDB Local', 'LOGBOOM_TEST_DYNAMODB_LOCAL');

export const S3_PLACES: readonly Place[] = MINISTACK;
export const DYNAMODB_PLACES: readonly Place[] = [...MINISTACK, ...DYNAMODB_LOCAL];

function place(name: string, variable: string): Place[] {
  const endpoint = process.env[variable];
  return endpoint === undefined ? [] : [{ name, endpoint }];
}

/** Unique name for a bucket or a table, so that test files do not share one. */
export function newName(): string {
  return `logboom-${randomBytes(6).toString('hex')}`;
}

interface Opened<T> {
  readonly port: T;
  close(): void;
}

export async function openObjectStore(endpoint: string, bucket: string): Promise<Opened<ObjectStore>> {
  const client = createS3Client({ endpoint });
  const call = createCaller({ clock: SYSTEM_CLOCK, limits: S3_LIMITS });
  await createBucketIfMissing(client, bucket, call);
  client.destroy();
  const requests = createS3Requests(bucket, { endpoint });
  return {
    port: s3ObjectStore({ requests, bucket, call, ids: SYSTEM_IDS }),
    close: () => requests.destroy(),
  };
}

/** @param clock decides what has expired; the calls themselves take real time */
export async function openTable(endpoint: string, tableName: string, clock: Clock): Promise<Opened<Table>> {
  const client = createDynamoDbClient({ endpoint });
  const call = createCaller({ clock: SYSTEM_CLOCK, limits: DYNAMODB_LIMITS });
  await createTableIfMissing(client, tableName, { call, clock: SYSTEM_CLOCK });
  client.destroy();
  const requests = createDynamoDbRequests(tableName, { endpoint });
  return {
    port: dynamoDbTable({ requests, tableName, call, ids: SYSTEM_IDS, clock }),
    close: () => requests.destroy(),
  };
}

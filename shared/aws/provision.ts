/**
 * Checks that the bucket and the table exist and have the expected layout. Creates them for a process that
 * runs against an emulator. In an AWS account the stack creates them.
 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  HeadBucketCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Clock } from '../base/ports/clock.ts';
import type { Caller } from './caller.ts';
import { PARTITION_KEY, SORT_KEY, TIME_TO_LIVE } from './dynamodb-item.ts';
import { describe } from './errors.ts';

/** Reports a missing or unsuitable bucket or table to the operator who starts the program. */
export class StorageSetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StorageSetupError';
  }
}

/** A new table becomes active after a few seconds. */
const ACTIVE_POLL_MS = 200;
const MAX_ACTIVE_POLLS = 300;
/** Region in which a bucket is created without a location. */
const HOME_REGION = 'us-east-1';

/** Throws StorageSetupError if the bucket does not exist. */
export async function checkBucket(client: S3Client, bucket: string, call: Caller): Promise<void> {
  if (!(await bucketExists(client, bucket, call)))
    throw new StorageSetupError(`bucket ${bucket} does not exist; create it, or set logboom.s3_bucket`);
}

export async function createBucketIfMissing(client: S3Client, bucket: string, call: Caller): Promise<void> {
  if (await bucketExists(client, bucket, call)) return;
  const region = await client.config.region();
  const location =
    region === HOME_REGION
      ? {}
      : { CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint } };
  await call({ operation: 'CreateBucket', target: bucket, writes: true }, async ({ signal }) => {
    try {
      await client.send(new CreateBucketCommand({ Bucket: bucket, ...location }), { abortSignal: signal });
    } catch (error) {
      // Another process created it first.
      if (describe(error).name !== 'BucketAlreadyOwnedByYou') throw error;
    }
  });
}

/** Throws StorageSetupError if the table does not exist or has other keys. */
export async function checkTable(client: DynamoDBClient, name: string, call: Caller): Promise<void> {
  const table = await describeTable(client, name, call);
  if (table === undefined)
    throw new StorageSetupError(`table ${name} does not exist; create it, or set logboom.dynamodb_table`);
  const keys = new Map(table.KeySchema?.map(({ KeyType, AttributeName }) => [KeyType, AttributeName]));
  const types = new Map(
    table.AttributeDefinitions?.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
  );
  const isOurs =
    keys.get('HASH') === PARTITION_KEY &&
    keys.get('RANGE') === SORT_KEY &&
    types.get(PARTITION_KEY) === 'S' &&
    types.get(SORT_KEY) === 'S';
  if (!isOurs)
    throw new StorageSetupError(
      `keys of table ${name} must be ${PARTITION_KEY} and ${SORT_KEY}, both of type S`,
    );
}

/** Creates a table with on-demand billing and time to live. Resolves when the table is active. */
export async function createTableIfMissing(
  client: DynamoDBClient,
  name: string,
  { call, clock }: { readonly call: Caller; readonly clock: Pick<Clock, 'sleep'> },
): Promise<void> {
  if ((await describeTable(client, name, call)) === undefined) await createTable(client, name, call);
  for (let poll = 0; ; poll++) {
    if ((await describeTable(client, name, call))?.TableStatus === 'ACTIVE') break;
    if (poll === MAX_ACTIVE_POLLS)
      throw new StorageSetupError(`table ${name} did not become active in time; check its state and retry`);
    await clock.sleep(ACTIVE_POLL_MS);
  }
  await checkTable(client, name, call);
  await enableTimeToLive(client, name, call);
}

async function bucketExists(client: S3Client, bucket: string, call: Caller): Promise<boolean> {
  return call({ operation: 'HeadBucket', target: bucket }, async ({ signal }) => {
    try {
      await client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal });
      return true;
    } catch (error) {
      if (describe(error).status === 404) return false;
      throw error;
    }
  });
}

function describeTable(
  client: DynamoDBClient,
  name: string,
  call: Caller,
): Promise<TableDescription | undefined> {
  return call({ operation: 'DescribeTable', target: name }, async ({ signal }) => {
    try {
      const answer = await client.send(new DescribeTableCommand({ TableName: name }), {
        abortSignal: signal,
      });
      return answer.Table;
    } catch (error) {
      if (describe(error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  });
}

async function createTable(client: DynamoDBClient, name: string, call: Caller): Promise<void> {
  await call({ operation: 'CreateTable', target: name, writes: true }, async ({ signal }) => {
    const command = new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: PARTITION_KEY, AttributeType: 'S' },
        { AttributeName: SORT_KEY, AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: PARTITION_KEY, KeyType: 'HASH' },
        { AttributeName: SORT_KEY, KeyType: 'RANGE' },
      ],
    });
    try {
      await client.send(command, { abortSignal: signal });
    } catch (error) {
      // Another process created it first.
      if (describe(error).name !== 'ResourceInUseException') throw error;
    }
  });
}

async function enableTimeToLive(client: DynamoDBClient, name: string, call: Caller): Promise<void> {
  await call({ operation: 'UpdateTimeToLive', target: name, writes: true }, async ({ signal }) => {
    const command = new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { AttributeName: TIME_TO_LIVE, Enabled: true },
    });
    try {
      await client.send(command, { abortSignal: signal });
    } catch (error) {
      // Time to live is already enabled. DynamoDB reports that only in the message; the code is not specific.
      if (!(error instanceof Error) || !/already enabled|active or enabling/i.test(error.message))
        throw error;
    }
  });
}

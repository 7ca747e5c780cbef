import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../local/storage.ts';
import { StorageSetupError } from '../../shared/aws/provision.ts';
import { type AwsStorage, openAwsStorage } from '../../shared/aws/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { errorOf, useTestCredentials } from './support/limits.ts';
import {
  dynamoAnswer,
  dynamoError,
  type ScriptedServer,
  s3Error,
  startScriptedServer,
} from './support/scripted-server.ts';

let s3: ScriptedServer;
let dynamoDb: ScriptedServer;
beforeAll(async () => {
  useTestCredentials();
  [s3, dynamoDb] = [await startScriptedServer(), await startScriptedServer()];
});
afterAll(async () => {
  await Promise.all([s3.close(), dynamoDb.close()]);
});

const open = (region?: string): AwsStorage =>
  openAwsStorage({
    bucket: 'logs',
    table: 'catalog',
    endpoint: s3.url,
    dynamoDbEndpoint: dynamoDb.url,
    region,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
  });

const OK = { status: 200 };
const NO_TABLE = dynamoError('ResourceNotFoundException');
const table = (hash = 'pk', type = 'S', status = 'ACTIVE') =>
  dynamoAnswer({
    Table: {
      TableStatus: status,
      KeySchema: [
        { AttributeName: hash, KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: type },
      ],
    },
  });
const operations = (): string[] =>
  dynamoDb.seen.map(request => String(request.headers['x-amz-target']).split('.')[1]);

describe('check of bucket and table', () => {
  const cases: [string, object, object, string | undefined][] = [
    ['both there', OK, table(), undefined],
    [
      'no bucket',
      { status: 404 },
      table(),
      'bucket logs does not exist; create it, or set logboom.s3_bucket',
    ],
    ['no table', OK, NO_TABLE, 'table catalog does not exist; create it, or set logboom.dynamodb_table'],
    ['another key', OK, table('id'), 'keys of table catalog must be pk and sk, both of type S'],
    ['another type', OK, table('pk', 'N'), 'keys of table catalog must be pk and sk, both of type S'],
  ];
  test.each(cases)('%s', async (_, bucketAnswer, tableAnswer, message) => {
    s3.script(bucketAnswer as typeof OK);
    dynamoDb.script(tableAnswer as typeof OK);
    const storage = open();
    if (message === undefined) await storage.check();
    else {
      const error = await errorOf(storage.check());
      expect(error).toBeInstanceOf(StorageSetupError);
      expect(error.message).toBe(message);
    }
    storage.close();
  });
});

describe('creation of missing storage', () => {
  test('creates a bucket in its region, and a table billed by request with expiry', async () => {
    s3.script({ status: 404 }, OK);
    dynamoDb.script(
      NO_TABLE,
      dynamoAnswer({}),
      table('pk', 'S', 'CREATING'),
      table(),
      table(),
      dynamoAnswer({}),
    );
    const storage = open('eu-central-1');
    await storage.createMissing();
    storage.close();
    expect(s3.seen.map(request => request.method)).toEqual(['HEAD', 'PUT']);
    expect(s3.seen[1].body).toContain('<LocationConstraint>eu-central-1</LocationConstraint>');
    expect(operations()).toEqual([
      'DescribeTable',
      'CreateTable',
      'DescribeTable',
      'DescribeTable',
      'DescribeTable',
      'UpdateTimeToLive',
    ]);
    expect(JSON.parse(dynamoDb.seen[1].body)).toMatchObject({
      TableName: 'catalog',
      BillingMode: 'PAY_PER_REQUEST',
    });
    expect(JSON.parse(dynamoDb.seen[5].body)).toMatchObject({
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    });
  });

  test('uses a bucket or table that another process created first', async () => {
    s3.script({ status: 404 }, s3Error(409, 'BucketAlreadyOwnedByYou'));
    const enabled = dynamoError('ValidationException', { message: 'TimeToLive is already enabled' });
    dynamoDb.script(NO_TABLE, dynamoError('ResourceInUseException'), table(), table(), enabled);
    const storage = open();
    await storage.createMissing();
    storage.close();
    expect([s3.left, dynamoDb.left]).toEqual([0, 0]);
  });

  test('refuses a bucket of another account', async () => {
    s3.script(s3Error(403, 'AccessDenied'));
    dynamoDb.script(table(), table(), table(), dynamoAnswer({}));
    const storage = open();
    expect(await errorOf(storage.createMissing())).toMatchObject({ name: 'AwsCallError', status: 403 });
    storage.close();
  });
});

test('a closed storage refuses calls', async () => {
  s3.script(OK);
  const storage = open();
  storage.close();
  expect(await errorOf(storage.store.head('k'))).toMatchObject({ name: 'AwsCallError' });
  expect(s3.seen).toHaveLength(0);
});

test('local storage opens on S3 if bucket and table exist', async () => {
  s3.script(OK, { status: 200, headers: { 'content-length': '3' } });
  dynamoDb.script(table());
  const { store, close } = await openStorage({
    kind: 's3',
    bucket: 'logs',
    table: 'catalog',
    endpoint: s3.url,
    dynamoDbEndpoint: dynamoDb.url,
    createMissing: false,
  });
  expect(await store.head('k')).toEqual({ key: 'k', size: 3 });
  await close();
  s3.script({ status: 404 });
  dynamoDb.script(table());
  const missing = openStorage({
    kind: 's3',
    bucket: 'logs',
    table: 'catalog',
    endpoint: s3.url,
    dynamoDbEndpoint: dynamoDb.url,
    createMissing: false,
  });
  expect((await errorOf(missing)).message).toBe(
    'bucket logs does not exist; create it, or set logboom.s3_bucket',
  );
});

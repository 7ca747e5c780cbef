import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CallLimits } from '../../shared/aws/caller.ts';
import { conditionExpression } from '../../shared/aws/dynamodb-condition.ts';
import { keyRange } from '../../shared/aws/dynamodb-query.ts';
import { createDynamoDbRequests, type DynamoDbRequests } from '../../shared/aws/dynamodb-requests.ts';
import { dynamoDbTable } from '../../shared/aws/dynamodb-table.ts';
import { AwsCallError, OutcomeUnknownError } from '../../shared/aws/errors.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import {
  ConditionFailedError,
  type Item,
  type QueryOptions,
  type Table,
  type Write,
} from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { errorOf, testCaller, useTestCredentials } from './support/limits.ts';
import {
  type Answer,
  dynamoAnswer,
  dynamoError,
  type ScriptedServer,
  startScriptedServer,
} from './support/scripted-server.ts';

const NOW_MS = 5_000_900;

let server: ScriptedServer;
let requests: DynamoDbRequests;
beforeAll(async () => {
  useTestCredentials();
  server = await startScriptedServer();
  requests = createDynamoDbRequests('logs', { endpoint: server.url });
});
afterAll(async () => {
  requests.destroy();
  await server.close();
});

const open = (limits: Partial<CallLimits> = {}): Table =>
  dynamoDbTable({
    requests,
    tableName: 'logs',
    call: testCaller(limits),
    ids: seededIds(1),
    clock: virtualClock(NOW_MS),
  });
const sent = (index: number): Record<string, unknown> => JSON.parse(server.seen[index].body);
const operations = (): string[] =>
  server.seen.map(request => String(request.headers['x-amz-target']).split('.')[1]);

const OK = dynamoAnswer({});
const CONDITION_FAILED = dynamoError('ConditionalCheckFailedException');
const THROTTLED = dynamoError('ProvisionedThroughputExceededException');
const canceled = (...codes: string[]): Answer =>
  dynamoError('TransactionCanceledException', { CancellationReasons: codes.map(Code => ({ Code })) });
const item = (sk: string, more: Partial<Item> = {}): Item => ({
  pk: 'p',
  sk,
  version: 1,
  body: Buffer.from('b'),
  ...more,
});
const stored = (sk: string, expiresAt?: number) => ({
  pk: { S: 'p' },
  sk: { S: sk },
  version: { N: '1' },
  body: { B: 'Yg==' },
  ...(expiresAt === undefined ? {} : { expiresAt: { N: String(expiresAt) } }),
});

describe('single writes', () => {
  test('contain the item and the condition', async () => {
    server.script(OK, OK);
    await open().put(item('s', { version: 7, expiresAt: 9 }), { kind: 'version', version: 6 });
    expect(sent(0)).toEqual({
      TableName: 'logs',
      Item: {
        pk: { S: 'p' },
        sk: { S: 's' },
        version: { N: '7' },
        body: { B: 'Yg==' },
        expiresAt: { N: '9' },
      },
      ConditionExpression: '#version = :version AND (attribute_not_exists(#expiresAt) OR #expiresAt > :now)',
      ExpressionAttributeNames: { '#version': 'version', '#expiresAt': 'expiresAt' },
      ExpressionAttributeValues: { ':version': { N: '6' }, ':now': { N: '5000' } },
    });
    await open().delete({ pk: 'p', sk: 's' });
    expect(sent(1)).toEqual({ TableName: 'logs', Key: { pk: { S: 'p' }, sk: { S: 's' } } });
  });

  test('report a failed condition after the first attempt and after refusals', async () => {
    for (const before of [[], [THROTTLED], [dynamoError('TransactionConflictException')]]) {
      server.script(...before, CONDITION_FAILED);
      expect(await errorOf(open().put(item('s'), { kind: 'absent' }))).toBeInstanceOf(ConditionFailedError);
    }
  });

  test('report an unknown outcome for a failed condition after a lost response', async () => {
    for (const lost of ['reset', dynamoError('InternalServerError', {}, 500)] as const) {
      server.script(lost, CONDITION_FAILED);
      const error = await errorOf(open().put(item('s'), { kind: 'absent' }));
      expect(error).toBeInstanceOf(AwsCallError);
      expect(error.cause).toBeInstanceOf(OutcomeUnknownError);
    }
  });

  test('throw ThrottledError after lasting throttling or conflicts', async () => {
    for (const refusal of [THROTTLED, dynamoError('TransactionConflictException')]) {
      server.script(refusal, refusal, refusal, refusal, OK);
      expect(await errorOf(open().put(item('s')))).toBeInstanceOf(ThrottledError);
      expect(server.left).toBe(1);
    }
  });

  test('do not repeat invalid requests', async () => {
    server.script(dynamoError('ValidationException'), OK);
    expect(await errorOf(open().put(item('s')))).toMatchObject({
      name: 'AwsCallError',
      code: 'ValidationException',
    });
    expect(server.left).toBe(1);
  });

  test('are aborted and repeated without a response', async () => {
    server.script('stall', OK);
    await open({ attemptTimeoutMs: 60 }).put(item('s'));
    expect(server.seen).toHaveLength(2);
  });
});

describe('transactions', () => {
  const writes: Write[] = [
    { kind: 'put', item: item('a'), condition: { kind: 'absent' } },
    { kind: 'delete', key: { pk: 'p', sk: 'b' } },
    { kind: 'check', key: { pk: 'q', sk: 'c' }, condition: { kind: 'present' } },
  ];

  test('contain every write, with one token for all attempts', async () => {
    server.script(
      canceled('None', 'TransactionConflict', 'None'),
      dynamoError('TransactionInProgressException'),
      'reset',
      OK,
    );
    await open().transact(writes);
    const tokens = server.seen.map((_, index) => sent(index).ClientRequestToken);
    expect(tokens).toEqual(Array(4).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(tokens).size).toBe(1);
    const items = sent(0).TransactItems as Record<
      string,
      { TableName: string; ConditionExpression?: string }
    >[];
    expect(items.map(each => Object.keys(each)[0])).toEqual(['Put', 'Delete', 'ConditionCheck']);
    expect(items[0].Put.ConditionExpression).toBe('attribute_not_exists(#pk) OR #expiresAt <= :now');
    expect(items[1].Delete).toEqual({ TableName: 'logs', Key: { pk: { S: 'p' }, sk: { S: 'b' } } });
  });

  test('name the first failed condition', async () => {
    const cases: [string[], number][] = [
      [['ConditionalCheckFailed', 'None', 'ConditionalCheckFailed'], 0],
      [['None', 'None', 'ConditionalCheckFailed'], 2],
      [['TransactionConflict', 'None', 'ConditionalCheckFailed'], 2],
    ];
    for (const [codes, index] of cases) {
      server.script(canceled(...codes));
      const error = await errorOf(open().transact(writes));
      expect(error).toBeInstanceOf(ConditionFailedError);
      expect((error as ConditionFailedError).index).toBe(index);
      expect(server.seen).toHaveLength(1);
    }
  });

  test('report a failed condition even after a lost response, because of the token', async () => {
    server.script('reset', canceled('ConditionalCheckFailed', 'None', 'None'));
    expect(await errorOf(open().transact(writes))).toBeInstanceOf(ConditionFailedError);
  });

  test('throw after lasting conflicts or throttling', async () => {
    for (const reason of ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']) {
      server.script(...Array(4).fill(canceled('None', reason, 'None')));
      expect(await errorOf(open().transact(writes))).toBeInstanceOf(ThrottledError);
      expect(server.left).toBe(0);
    }
    server.script('reset', ...Array(3).fill(canceled('TransactionConflict', 'None', 'None')));
    expect(await errorOf(open().transact(writes))).toBeInstanceOf(AwsCallError);
  });

  test('do not repeat other failures', async () => {
    server.script(canceled('None', 'ValidationError', 'None'), OK);
    expect(await errorOf(open().transact(writes))).toBeInstanceOf(AwsCallError);
    expect(server.left).toBe(1);
  });

  test('send nothing if they are empty', async () => {
    server.script();
    await open().transact([]);
    expect(server.seen).toHaveLength(0);
  });
});

describe('reads', () => {
  test('are consistent, and omit expired items', async () => {
    server.script(dynamoAnswer({ Item: stored('s', 5001) }), dynamoAnswer({ Item: stored('s', 5000) }), OK);
    const table = open();
    expect(await table.get({ pk: 'p', sk: 's' })).toMatchObject({ sk: 's', version: 1, expiresAt: 5001 });
    expect(await table.get({ pk: 'p', sk: 's' })).toBeUndefined();
    expect(await table.get({ pk: 'p', sk: 's' })).toBeUndefined();
    expect(sent(0)).toMatchObject({ ConsistentRead: true, Key: { pk: { S: 'p' }, sk: { S: 's' } } });
  });

  test('refuse an item of another program', async () => {
    const { version: _, ...withoutVersion } = stored('s');
    for (const foreign of [withoutVersion, { ...stored('s'), body: { S: 'text' } }]) {
      server.script(dynamoAnswer({ Item: foreign }));
      expect((await errorOf(open().get({ pk: 'p', sk: 's' }))).message).toContain('is not a Logboom item');
    }
  });

  const page = (items: object[], next?: string, scanned = items.length): Answer =>
    dynamoAnswer({
      Items: items,
      ScannedCount: scanned,
      ...(next === undefined ? {} : { LastEvaluatedKey: { pk: { S: 'p' }, sk: { S: next } } }),
    });

  test('fill a page that expired items left short, and end it at the size limit of DynamoDB', async () => {
    server.script(page([stored('a', 1), stored('b')], 'b'), page([stored('c')], 'c'));
    expect(await open().query('p', { limit: 2 })).toMatchObject({
      items: [{ sk: 'b' }, { sk: 'c' }],
      next: 'c',
    });
    expect([sent(0), sent(1)]).toMatchObject([
      { Limit: 2, ConsistentRead: true },
      { Limit: 1, ExclusiveStartKey: { pk: { S: 'p' }, sk: { S: 'b' } } },
    ]);
    server.script(page([stored('a', 1)], 'a'));
    expect(await open().query('p', { limit: 2 })).toEqual({ items: [], next: 'a' });
  });

  test('end a page after several requests if all items have expired', async () => {
    server.script(...Array.from({ length: 20 }, (_, i) => page([stored(`k${i}`, 1)], `k${i}`)));
    expect(await open().query('p', { limit: 1 })).toEqual({ items: [], next: 'k7' });
    expect(server.seen).toHaveLength(8);
  });

  test('exclude the end of the range', async () => {
    server.script(page([stored('a'), stored('b')], 'b'));
    const answer = await open().query('p', { from: 'a', to: 'b', limit: 2 });
    expect(answer).toMatchObject({ items: [{ sk: 'a' }] });
    expect(answer.next).toBeUndefined();
  });

  test('are repeated after throttling and broken responses', async () => {
    server.script(THROTTLED, dynamoError('InternalServerError', {}, 500), page([stored('a')]));
    expect((await open().query('p')).items).toHaveLength(1);
    expect(operations()).toEqual(['Query', 'Query', 'Query']);
    server.script('reset', THROTTLED, THROTTLED, THROTTLED);
    expect(await errorOf(open().query('p'))).toBeInstanceOf(ThrottledError);
  });
});

test('express conditions', () => {
  const live = '(attribute_not_exists(#expiresAt) OR #expiresAt > :now)';
  const table = [
    [{ kind: 'absent' }, 'attribute_not_exists(#pk) OR #expiresAt <= :now'],
    [{ kind: 'present' }, `attribute_exists(#pk) AND ${live}`],
    [{ kind: 'version', version: 3 }, `#version = :version AND ${live}`],
    [undefined, undefined],
  ] as const;
  for (const [condition, want] of table)
    expect(conditionExpression(condition, NOW_MS)?.ConditionExpression).toBe(want);
});

test('express key ranges', () => {
  // [options, condition of the sort key, its bounds, start after]; undefined: nothing can be there
  const table: [QueryOptions, [string, string, string | undefined] | undefined][] = [
    [{}, ['', '', undefined]],
    [{ from: '', after: '' }, ['', '', undefined]],
    [{ to: '' }, undefined],
    [{ from: 'b' }, [' AND sk >= :from', 'b', undefined]],
    [{ to: 'd' }, [' AND sk < :to', 'd', undefined]],
    [{ from: 'b', to: 'd' }, [' AND sk BETWEEN :from AND :to', 'b,d', undefined]],
    [{ from: 'b', to: 'b' }, undefined],
    [{ from: 'd', to: 'b' }, undefined],
    // U+FFEE comes before an emoji as bytes, after it as UTF-16.
    [{ from: '\uffee', to: '😀' }, [' AND sk BETWEEN :from AND :to', '\uffee,😀', undefined]],
    [{ from: 'b', to: 'd', after: 'a' }, [' AND sk BETWEEN :from AND :to', 'b,d', undefined]],
    [{ from: 'b', to: 'd', after: 'b' }, [' AND sk BETWEEN :from AND :to', 'b,d', 'b']],
    [{ from: 'b', to: 'd', after: 'c' }, [' AND sk BETWEEN :from AND :to', 'b,d', 'c']],
    [{ from: 'b', to: 'd', after: 'd' }, undefined],
    [{ from: 'b', to: 'd', after: 'e', reverse: true }, [' AND sk BETWEEN :from AND :to', 'b,d', undefined]],
    [{ from: 'b', to: 'd', after: 'd', reverse: true }, [' AND sk BETWEEN :from AND :to', 'b,d', undefined]],
    [{ from: 'b', to: 'd', after: 'c', reverse: true }, [' AND sk BETWEEN :from AND :to', 'b,d', 'c']],
    [{ from: 'b', to: 'd', after: 'b', reverse: true }, undefined],
    [{ after: '', reverse: true }, undefined],
    [{ after: 'c', reverse: true }, ['', '', 'c']],
  ];
  for (const [options, want] of table) {
    const range = keyRange('p', options);
    const { ':pk': _, ...bounds } = range?.ExpressionAttributeValues ?? {};
    const got = range && [
      range.KeyConditionExpression.replace('pk = :pk', ''),
      Object.values(bounds)
        .map(value => value.S)
        .join(),
      range.startAfter,
    ];
    expect([options, got]).toEqual([options, want]);
  }
  expect(() => keyRange('p', { from: 'x'.repeat(1025) })).toThrow(RangeError);
});

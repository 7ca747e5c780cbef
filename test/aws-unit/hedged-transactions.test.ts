/** Slow transactions are sent twice with one token. The client stands in for DynamoDB in virtual time: it keeps tokens as DynamoDB does. */
import { expect, test } from '@jest/globals';
import { createCaller, DYNAMODB_LIMITS } from '../../shared/aws/caller.ts';
import type { DynamoDbRequests } from '../../shared/aws/dynamodb-requests.ts';
import { dynamoDbTable } from '../../shared/aws/dynamodb-table.ts';
import { AwsCallError } from '../../shared/aws/errors.ts';
import { createHedger, TRANSACTION_HEDGES } from '../../shared/aws/hedge.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { ConditionFailedError, type Write } from '../../shared/base/ports/table.ts';
import { errorOf } from './support/limits.ts';

/**
 * Fate of one request: it takes effect or fails `arrivesMs` after it is sent, and its sender knows `answersMs`
 * later.
 */
interface Step {
  readonly arrivesMs?: number;
  readonly answersMs?: number;
  readonly error?: Error;
}

const SAMPLES = 40;
const writes: Write[] = [
  {
    kind: 'put',
    item: { pk: 'p', sk: 'a', version: 1, body: Buffer.from('b') },
    condition: { kind: 'absent' },
  },
];

const conditionFailed = () =>
  Object.assign(new Error('canceled'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
    $metadata: { httpStatusCode: 400 },
  });
const final = () =>
  Object.assign(new Error('broken'), { name: 'ValidationException', $metadata: { httpStatusCode: 400 } });

async function slowTable() {
  const clock = virtualClock(0);
  const steps: Step[] = [];
  const tokens: string[] = [];
  const effects: string[] = [];
  const aborted: number[] = [];
  async function send(_operation: string, input: object, signal: AbortSignal) {
    const { arrivesMs = 5, answersMs = 5, error } = steps.shift() ?? {};
    const token = String((input as { ClientRequestToken?: string }).ClientRequestToken);
    const number = tokens.push(token);
    signal.addEventListener('abort', () => aborted.push(number));
    // A sent request arrives, whether or not its sender waits.
    await clock.sleep(arrivesMs);
    if (error === undefined && !effects.includes(token)) effects.push(token);
    await clock.sleep(answersMs, signal);
    if (error !== undefined) throw error;
    return {};
  }
  const requests: DynamoDbRequests = { send, destroy: () => undefined };
  const transactions = createHedger({ clock, ...TRANSACTION_HEDGES });
  const call = createCaller({ clock, limits: DYNAMODB_LIMITS, random: () => 0.5 });
  const table = dynamoDbTable({ requests, tableName: 'logs', call, ids: seededIds(1), clock, transactions });
  for (let i = 0; i < SAMPLES; i++) await clock.run(table.transact(writes));
  for (const list of [tokens, effects, aborted]) list.length = 0;
  return { clock, table, steps, tokens, effects, aborted, figures: transactions.figures };
}

test('a slow transaction is sent twice with one token, takes effect once, and the slow request is ended', async () => {
  const { clock, table, steps, tokens, effects, aborted, figures } = await slowTable();
  steps.push({ arrivesMs: 1_000 }, {});
  await clock.run(table.transact(writes));
  expect(tokens).toEqual([tokens[0], tokens[0]]);
  expect([effects, aborted]).toEqual([[tokens[0]], [1]]);
  expect(figures).toMatchObject({ hedges: 1, won: 1 });
  // The first arrives all the same.
  await clock.advance(2_000);
  expect(effects).toEqual([tokens[0]]);
});

test('each transaction has a separate token, and a fast one is sent once', async () => {
  const { clock, table, tokens, figures } = await slowTable();
  await clock.run(table.transact(writes));
  await clock.run(table.transact(writes));
  expect(new Set(tokens).size).toBe(2);
  expect([tokens.length, figures.hedges]).toEqual([2, 0]);
});

test('a failed condition is reported only if neither request can have taken effect', async () => {
  const slow = { answersMs: 1_000, error: conditionFailed() };
  const cases = [
    [[slow, { error: conditionFailed() }], ConditionFailedError],
    [[slow, { error: final() }], AwsCallError],
    [[{ answersMs: 1_000, error: final() }, { error: conditionFailed() }], AwsCallError],
  ] as const;
  for (const [given, expected] of cases) {
    const { clock, table, steps, tokens } = await slowTable();
    steps.push(...given);
    expect(await errorOf(clock.run(table.transact(writes)))).toBeInstanceOf(expected);
    expect(tokens).toHaveLength(2);
  }
});

test('a transaction whose condition held for the second request succeeds', async () => {
  const { clock, table, steps, tokens, effects } = await slowTable();
  steps.push({ answersMs: 50, error: conditionFailed() }, { answersMs: 500 });
  await clock.run(table.transact(writes));
  expect([effects.length, tokens.length]).toEqual([1, 2]);
});

test('a second request waits for a first one in progress', async () => {
  const { clock, table, steps, effects } = await slowTable();
  const atWork = Object.assign(new Error('in progress'), {
    name: 'TransactionInProgressException',
    $metadata: { httpStatusCode: 400 },
  });
  steps.push({ arrivesMs: 60 }, { error: atWork }, { error: atWork }, { error: atWork });
  await clock.run(table.transact(writes));
  expect(effects).toHaveLength(1);
});

test('a large transaction is sent once, however slow', async () => {
  const { clock, table, steps, tokens } = await slowTable();
  const body = Buffer.alloc(300 * 1024);
  steps.push({ arrivesMs: 1_000 });
  await clock.run(table.transact([{ kind: 'put', item: { pk: 'p', sk: 'l', version: 1, body } }]));
  expect(tokens).toHaveLength(1);
});

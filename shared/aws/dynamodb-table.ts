/**
 * Implements the table port on DynamoDB: conditional writes and transactions on its servers, consistent
 * reads.
 *
 * Time to live deletes items days late. Reads skip expired items, and conditions count them as absent.
 *
 * Pitfall:
 * - A condition can fail because an earlier attempt without a response wrote the item. A transaction carries a
 *   token: for ten minutes DynamoDB recognizes a repeat and returns the first result. A single conditional write
 *   has no token. It then ends with AwsCallError, which leaves its outcome open.
 * - A slow transaction is sent twice with one token. It takes effect once, whichever request arrives first. If
 *   both requests fail, the transaction may have taken effect unless both errors exclude it.
 */
import { compareUtf8 } from '../base/model/bytes.ts';
import type { Clock, Ids } from '../base/ports/clock.ts';
import type { ReadOptions } from '../base/ports/object-store.ts';
import {
  type Condition,
  ConditionFailedError,
  type Item,
  type ItemKey,
  type QueryOptions,
  type QueryPage,
  type Table,
  type Write,
} from '../base/ports/table.ts';
import {
  checkItem,
  checkItemKey,
  checkQuery,
  checkTransaction,
  isExpired,
  itemBytes,
  keyOfWrite,
  MAX_QUERY_PAGE_BYTES,
  queryLimit,
} from '../base/ports/table-rules.ts';
import type { Attempt, Call, Caller } from './caller.ts';
import { conditionExpression } from './dynamodb-condition.ts';
import { type Attributes, itemAttributes, itemOf, keyAttributes } from './dynamodb-item.ts';
import { type KeyRange, keyRange } from './dynamodb-query.ts';
import type { DynamoDbRequests } from './dynamodb-requests.ts';
import { AwsCallError, describe, OutcomeUnknownError, UnexpectedAnswerError } from './errors.ts';
import type { Hedger } from './hedge.ts';

/** Maximum requests for one page. If many items have expired, the caller requests the next page. */
const MAX_REQUESTS_PER_PAGE = 8;
/** Encoded as 32 hexadecimal characters. DynamoDB accepts up to 36. */
const TOKEN_BYTES = 16;

interface DynamoDbTableOptions {
  readonly requests: DynamoDbRequests;
  readonly tableName: string;
  readonly call: Caller;
  readonly ids: Ids;
  /** Time for expiry checks. */
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Sends slow transactions a second time. Default: each transaction is one call. */
  readonly transactions?: Hedger;
}

interface GetOutput {
  readonly Item?: Attributes;
}

interface QueryOutput {
  readonly Items?: readonly Attributes[];
  readonly LastEvaluatedKey?: Attributes;
  readonly ScannedCount?: number;
}

export function dynamoDbTable(options: DynamoDbTableOptions): Table {
  const { requests, tableName: TableName, call, ids, clock, transactions } = options;
  const callOn = (operation: string, key: ItemKey | string, writes = false): Call => {
    const keyText = typeof key === 'string' ? key : `${key.pk} / ${key.sk}`;
    return { operation, target: `${TableName} ${keyText}`, writes };
  };

  const write = async (
    key: ItemKey,
    operation: string,
    send: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> => {
    await call(callOn(operation, key, true), async ({ signal, mayHaveHappened }: Attempt) => {
      try {
        await send(signal);
      } catch (error) {
        if (describe(error).name !== 'ConditionalCheckFailedException') throw error;
        throw mayHaveHappened ? new OutcomeUnknownError(error) : new ConditionFailedError(key);
      }
    });
  };

  const querySlice = (pk: string, range: KeyRange, reverse: boolean, limit: number, after?: string) =>
    call(callOn('Query', pk), ({ signal }) => {
      const input = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: range.KeyConditionExpression,
        ExpressionAttributeValues: range.ExpressionAttributeValues,
        ExclusiveStartKey: after === undefined ? undefined : keyAttributes({ pk, sk: after }),
        ScanIndexForward: !reverse,
        Limit: limit,
      };
      return requests.send('Query', input, signal) as Promise<QueryOutput>;
    });

  const queryPage = async (
    pk: string,
    range: KeyRange,
    reverse: boolean,
    limit: number,
  ): Promise<QueryPage> => {
    const items: Item[] = [];
    let bytes = 0;
    let after = range.startAfter;
    for (let request = 1; ; request++) {
      const asked = limit - items.length;
      const answer = await querySlice(pk, range, reverse, asked, after);
      for (const attributes of answer.Items ?? []) {
        const item = itemOf(attributes);
        bytes += itemBytes(item);
        if (item.sk !== range.end && !isExpired(item.expiresAt, clock.nowMs())) items.push(item);
      }
      const next = answer.LastEvaluatedKey?.sk?.S;
      // The end is not in the range, and no key above it is.
      const isLast =
        next === undefined || (!reverse && range.end !== undefined && compareUtf8(next, range.end) >= 0);
      if (isLast) return { items };
      if (next === after) throw new UnexpectedAnswerError(`query of ${pk} does not advance past ${next}`);
      after = next;
      // Fewer items than requested: DynamoDB ended the response by its size.
      const endedBySize = (answer.ScannedCount ?? 0) < asked || bytes >= MAX_QUERY_PAGE_BYTES;
      if (endedBySize || items.length === limit || request === MAX_REQUESTS_PER_PAGE) return { items, next };
    }
  };

  return {
    isDistant: true,

    async get(key) {
      checkItemKey(key);
      const input = { TableName, Key: keyAttributes(key), ConsistentRead: true };
      const { Item: attributes } = await call(
        callOn('GetItem', key),
        ({ signal }) => requests.send('GetItem', input, signal) as Promise<GetOutput>,
      );
      if (attributes === undefined) return undefined;
      const item = itemOf(attributes);
      return isExpired(item.expiresAt, clock.nowMs()) ? undefined : item;
    },

    async query(pk: string, query: QueryOptions = {}) {
      checkQuery(pk, query);
      const limit = queryLimit(query.limit);
      const range = keyRange(pk, query);
      return range === undefined ? { items: [] } : queryPage(pk, range, query.reverse === true, limit);
    },

    async put(item, condition?: Condition) {
      checkItem(item);
      const input = {
        TableName,
        Item: itemAttributes(item),
        ...conditionExpression(condition, clock.nowMs()),
      };
      await write(item, 'PutItem', signal => requests.send('PutItem', input, signal));
    },

    async delete(key, condition?: Condition) {
      checkItemKey(key);
      const input = { TableName, Key: keyAttributes(key), ...conditionExpression(condition, clock.nowMs()) };
      await write(key, 'DeleteItem', signal => requests.send('DeleteItem', input, signal));
    },

    async transact(writes) {
      checkTransaction(writes);
      if (writes.length === 0) return;
      const nowMs = clock.nowMs();
      const TransactItems = writes.map(each => transactItem(TableName, each, nowMs));
      const input = { TransactItems, ClientRequestToken: ids.randomHex(TOKEN_BYTES) };
      const target = keyOfWrite(writes[0]);
      const attempt = async ({ signal }: Attempt): Promise<void> => {
        try {
          await requests.send('TransactWriteItems', input, signal);
        } catch (error) {
          const failed = describe(error).reasons.indexOf('ConditionalCheckFailed');
          throw failed < 0 ? error : new ConditionFailedError(keyOfWrite(writes[failed]), failed);
        }
      };
      const operation = callOn('TransactWriteItems', target, true);
      if (transactions === undefined) return call(operation, attempt);
      await sendSlowTwice(transactions, bytesOf(writes), ({ signal }) =>
        call({ ...operation, signal }, attempt),
      );
    },
  };
}

/**
 * Runs a transaction. If all requests fail, an error with an open outcome wins over one that excludes a
 * write.
 */
async function sendSlowTwice(
  transactions: Hedger,
  bytes: number,
  send: (options: ReadOptions) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const noted = async (options: ReadOptions): Promise<void> => {
    try {
      await send(options);
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  try {
    await transactions.run(bytes, {}, noted);
  } catch (error) {
    throw failures.find(failure => failure instanceof AwsCallError) ?? error;
  }
}

function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, each) => sum + (each.kind === 'put' ? itemBytes(each.item) : 0), 0);
}

function transactItem(TableName: string, write: Write, nowMs: number): object {
  switch (write.kind) {
    case 'put':
      return {
        Put: { TableName, Item: itemAttributes(write.item), ...conditionExpression(write.condition, nowMs) },
      };
    case 'delete':
      return {
        Delete: { TableName, Key: keyAttributes(write.key), ...conditionExpression(write.condition, nowMs) },
      };
    case 'check':
      return {
        ConditionCheck: {
          TableName,
          Key: keyAttributes(write.key),
          ...conditionExpression(write.condition, nowMs)!,
        },
      };
  }
}

/**
 * Counts requests to S3 and DynamoDB from the wire, with the units that AWS would bill. Emulators report
 * unreliable units, and the store does not request them, so they are computed here (units.ts).
 *
 * Pitfall: a write costs the larger of the old and the new item, and a deletion the deleted item, so item
 * sizes are remembered. A write whose condition failed is also billed.
 */
import { NO_COUNTS, plus, type RequestCounts } from './counts.ts';
import { type ItemJson, itemBytes, readUnits, writeUnits } from './units.ts';

/** Request and response as on the wire. */
export interface Exchange {
  readonly method: string;
  /** URL with the query. */
  readonly url: string;
  /** Header x-amz-target; undefined for S3. */
  readonly target: string | undefined;
  readonly requestBody: Buffer;
  readonly status: number;
  readonly answerBody: Buffer;
}

interface KeyedJson {
  readonly Key: ItemJson;
}

interface WriteJson {
  readonly Put?: { readonly Item: ItemJson };
  readonly Delete?: KeyedJson;
  readonly ConditionCheck?: KeyedJson;
}

const TRANSACTION_FACTOR = 2;
const FIRST_SERVER_ERROR = 500;
/** Maximum remembered items, 200 bytes each. Deleting another item counts as a small one. */
const MAX_REMEMBERED_ITEMS = 500_000;

export class RequestCounter {
  counts: RequestCounts = NO_COUNTS;
  readonly #itemBytes = new Map<string, number>();

  add(exchange: Exchange): void {
    this.counts = plus(this.counts, this.#countOf(exchange));
  }

  #countOf(exchange: Exchange): Partial<RequestCounts> {
    if (exchange.status >= FIRST_SERVER_ERROR) return { failures: 1 };
    return exchange.target === undefined
      ? countOfS3(exchange)
      : this.#countOfTable(exchange, exchange.target);
  }

  #countOfTable({ requestBody, status, answerBody }: Exchange, target: string): Partial<RequestCounts> {
    const isDone = status < 400;
    if (!isDone && !isFailedCondition(answerBody)) return { failures: 1 };
    const request = parse(requestBody);
    switch (target.slice(target.indexOf('.') + 1)) {
      case 'GetItem': {
        const { Item } = parse(answerBody) as { Item?: ItemJson };
        return countOfRead(Item === undefined ? [] : [Item], request);
      }
      case 'Query': {
        const { Items } = parse(answerBody) as { Items?: readonly ItemJson[] };
        return countOfRead(Items ?? [], request);
      }
      case 'PutItem': {
        const { Item } = request as { Item: ItemJson };
        return { tableWrites: 1, writeUnits: this.#unitsOf({ Put: { Item } }, isDone) };
      }
      case 'DeleteItem': {
        const { Key } = request as unknown as KeyedJson;
        return { tableWrites: 1, writeUnits: this.#unitsOf({ Delete: { Key } }, isDone) };
      }
      case 'TransactWriteItems': {
        const { TransactItems } = request as { TransactItems: readonly WriteJson[] };
        const units = TransactItems.reduce((sum, write) => sum + this.#unitsOf(write, isDone), 0);
        return { tableWrites: 1, writeUnits: TRANSACTION_FACTOR * units };
      }
      case 'DescribeTable':
      case 'CreateTable':
      case 'UpdateTimeToLive':
        // Free, and only at the start.
        return {};
      default:
        throw new Error(`${target} is a request with unknown units`);
    }
  }

  /** Units of one write outside a transaction; remembers the stored size. */
  #unitsOf({ Put, Delete, ConditionCheck }: WriteJson, isDone: boolean): number {
    if (Put !== undefined) {
      const key = keyOf(Put.Item);
      const bytes = itemBytes(Put.Item);
      const units = writeUnits(Math.max(bytes, this.#itemBytes.get(key) ?? 0));
      if (isDone && (this.#itemBytes.has(key) || this.#itemBytes.size < MAX_REMEMBERED_ITEMS))
        this.#itemBytes.set(key, bytes);
      return units;
    }
    const keyed = Delete ?? ConditionCheck;
    if (keyed === undefined) throw new Error('a write that is neither put, deletion nor check');
    const key = keyOf(keyed.Key);
    const units = writeUnits(this.#itemBytes.get(key) ?? 0);
    if (isDone && Delete !== undefined) this.#itemBytes.delete(key);
    return units;
  }
}

function countOfRead(items: readonly ItemJson[], request: Record<string, unknown>): Partial<RequestCounts> {
  const bytes = items.reduce((sum, item) => sum + itemBytes(item), 0);
  return {
    tableReads: 1,
    tableReadBytes: bytes,
    readUnits: readUnits(bytes, request.ConsistentRead === true),
  };
}

/** Refusals (404, 412, 416) are billed like the refused request, and their bodies count as read. */
function countOfS3({ method, url, requestBody, answerBody }: Exchange): Partial<RequestCounts> {
  switch (method) {
    case 'GET':
      if (new URL(url, 'http://s3').searchParams.has('list-type')) return { objectLists: 1 };
      return { objectGets: 1, objectReadBytes: answerBody.length };
    case 'HEAD':
      return { objectHeads: 1 };
    case 'PUT':
      return { objectPuts: 1, objectWrittenBytes: requestBody.length };
    case 'DELETE':
      return { objectDeletes: 1 };
    default:
      throw new Error(`${method} ${url} is a request with an unknown price`);
  }
}

function isFailedCondition(answerBody: Buffer): boolean {
  const { __type: type } = parse(answerBody) as { __type?: string };
  return type !== undefined && /(ConditionalCheckFailed|TransactionCanceled)Exception$/.test(type);
}

function keyOf({ pk, sk }: ItemJson): string {
  return JSON.stringify([pk?.S, sk?.S]);
}

function parse(body: Buffer): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

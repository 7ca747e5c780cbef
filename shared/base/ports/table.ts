/**
 * Small records with conditional writes and transactions: DynamoDB in an account, SQLite on one machine. The
 * catalog is its only user. A record over a limit or a malformed key is refused with RangeError, before any effect.
 *
 * An error other than ConditionFailedError, RangeError and ThrottledError leaves open whether a write happened.
 */
export interface ItemKey {
  /** Partition key, at most 2048 bytes. */
  readonly pk: string;
  /** Sort key inside the partition, compared as UTF-8 bytes, at most 1024 bytes. */
  readonly sk: string;
}

export interface Item extends ItemKey {
  /** Chosen by the writer; what `ifVersion` compares. A whole number from 0. */
  readonly version: number;
  /** At most MAX_ITEM_BODY_BYTES. */
  readonly body: Uint8Array;
  /** Unix seconds from which on readers must not see the item. Expired items may stay stored: readers filter. */
  readonly expiresAt?: number;
}

/** Below DynamoDB's 400 KB per item, keys and attribute names included. */
export const MAX_ITEM_BODY_BYTES = 380 * 1024;
/** DynamoDB's limit. */
export const MAX_TRANSACTION_ITEMS = 100;
/** Below DynamoDB's 4 MB per transaction. */
export const MAX_TRANSACTION_BYTES = 3_500_000;

/** What must hold of the stored item for a write to happen. An expired item counts as absent. */
export type Condition =
  | { readonly kind: 'absent' }
  | { readonly kind: 'present' }
  | { readonly kind: 'version'; readonly version: number };

export type Write =
  | { readonly kind: 'put'; readonly item: Item; readonly condition?: Condition }
  | { readonly kind: 'delete'; readonly key: ItemKey; readonly condition?: Condition }
  /** Writes nothing: the transaction happens only where the condition holds. */
  | { readonly kind: 'check'; readonly key: ItemKey; readonly condition: Condition };

/** What a table tells of a stored item before it reads its body. */
export interface ItemHead extends ItemKey {
  readonly version: number;
  readonly bodyBytes: number;
  /** The last four bytes of the body, or all of a shorter one, in upper-case hexadecimal. */
  readonly bodyEnd: string;
}

export interface QueryOptions {
  /** First sort key, inclusive. */
  readonly from?: string;
  /** End of the sort keys, exclusive. */
  readonly to?: string;
  /** Descending. */
  readonly reverse?: boolean;
  /** Most items of one page (default and most 1000; a page also ends near 1 MB). */
  readonly limit?: number;
  /** The `next` of the page before: a sort key, left out itself, in the direction of the query. */
  readonly after?: string;
  /**
   * What the caller has of an item with this head, which the page then holds in its place: for bodies that end in a checksum. A
   * table that reads bodies one by one asks, one to which they come in any case need not.
   */
  readonly known?: (head: ItemHead) => Item | undefined;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** Absent on the last page. A page may be empty and still have a next one, which may be empty too. */
  readonly next?: string;
}

export interface Table {
  /** Every request waits for a network: who asks asks side by side, also for what may turn out not to be needed. */
  readonly isDistant?: boolean;

  /** Consistent read; undefined where there is none or it has expired. */
  get(key: ItemKey): Promise<Item | undefined>;

  /** Consistent read of a key range of one partition, ascending by sort key; never an expired item. */
  query(pk: string, options?: QueryOptions): Promise<QueryPage>;

  /** Durable when it resolves. Throws ConditionFailedError. */
  put(item: Item, condition?: Condition): Promise<void>;

  /** Durable when it resolves; a missing item is no error without a condition. Throws ConditionFailedError. */
  delete(key: ItemKey, condition?: Condition): Promise<void>;

  /**
   * All writes or none, durable when it resolves. At most MAX_TRANSACTION_ITEMS, no key twice. Throws
   * ConditionFailedError with the place of the first failed condition.
   */
  transact(writes: readonly Write[]): Promise<void>;
}

export class ConditionFailedError extends Error {
  /** Which write of a transaction failed its condition; 0 for a single write. */
  readonly index: number;

  constructor(key: ItemKey, index = 0) {
    super(`condition failed for ${key.pk} / ${key.sk}`);
    this.name = 'ConditionFailedError';
    this.index = index;
  }
}

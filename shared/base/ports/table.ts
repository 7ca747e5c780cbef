/**
 * Small records with conditional writes and transactions: DynamoDB in an AWS account, SQLite on one machine.
 * Only the catalog uses it. A malformed key or a record over a limit is refused with RangeError, without any
 * effect.
 *
 * After an error other than ConditionFailedError, RangeError and ThrottledError, the write may or may not
 * have happened.
 */
export interface ItemKey {
  /** Partition key, at most 2,048 bytes. */
  readonly pk: string;
  /** Sort key within the partition, compared as UTF-8 bytes, at most 1,024 bytes. */
  readonly sk: string;
}

export interface Item extends ItemKey {
  /** Version chosen by the writer, a whole number from 0. `ifVersion` compares it. */
  readonly version: number;
  /** Content, at most MAX_ITEM_BODY_BYTES. */
  readonly body: Uint8Array;
  /**
   * Unix seconds from which readers must not see the item. Expired items may remain stored: readers filter
   * them.
   */
  readonly expiresAt?: number;
}

/** Maximum body size: below DynamoDB's 400 KB per item, which includes keys and attribute names. */
export const MAX_ITEM_BODY_BYTES = 380 * 1024;
/** DynamoDB's limit. */
export const MAX_TRANSACTION_ITEMS = 100;
/** Maximum size of a transaction: below DynamoDB's 4 MB. */
export const MAX_TRANSACTION_BYTES = 3_500_000;

/** Condition on the stored item for a write to happen. An expired item counts as absent. */
export type Condition =
  | { readonly kind: 'absent' }
  | { readonly kind: 'present' }
  | { readonly kind: 'version'; readonly version: number };

export type Write =
  | { readonly kind: 'put'; readonly item: Item; readonly condition?: Condition }
  | { readonly kind: 'delete'; readonly key: ItemKey; readonly condition?: Condition }
  /** Writes nothing: the transaction happens only if the condition holds. */
  | { readonly kind: 'check'; readonly key: ItemKey; readonly condition: Condition };

/** Properties of a stored item that are known before its body is read. */
export interface ItemHead extends ItemKey {
  readonly version: number;
  readonly bodyBytes: number;
  /** Last four bytes of the body (all of a shorter body), in upper-case hexadecimal. */
  readonly bodyEnd: string;
}

export interface QueryOptions {
  /** First sort key, inclusive. */
  readonly from?: string;
  /** End of the sort keys, exclusive. */
  readonly to?: string;
  /** Whether the order is descending. */
  readonly reverse?: boolean;
  /** Maximum number of items in one page (default and maximum 1,000). A page also ends near 1 MB. */
  readonly limit?: number;
  /** `next` of the previous page: a sort key to continue after, in the direction of the query. */
  readonly after?: string;
  /**
   * Returns the caller's copy of an item with this head, if it has one; the page then contains that copy. For
   * bodies that end in a checksum. Tables that read bodies one by one call this; tables that receive them
   * anyway may not.
   */
  readonly known?: (head: ItemHead) => Item | undefined;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /**
   * Cursor for the next page; absent on the last page. A page may be empty and have a next page, which may
   * also be empty.
   */
  readonly next?: string;
}

export interface Table {
  /**
   * Whether every request waits for a network. Callers then send requests in parallel, even if some results
   * may not be needed.
   */
  readonly isDistant?: boolean;

  /** Reads an item consistently. Returns undefined if it does not exist or has expired. */
  get(key: ItemKey): Promise<Item | undefined>;

  /** Reads a key range of one partition consistently, ascending by sort key, without expired items. */
  query(pk: string, options?: QueryOptions): Promise<QueryPage>;

  /** Writes an item; durable when it resolves. Throws ConditionFailedError. */
  put(item: Item, condition?: Condition): Promise<void>;

  /**
   * Deletes an item; durable when it resolves. Without a condition, a missing item is not an error. Throws
   * ConditionFailedError.
   */
  delete(key: ItemKey, condition?: Condition): Promise<void>;

  /**
   * Applies all writes or none; durable when it resolves. At most MAX_TRANSACTION_ITEMS, no key twice. Throws
   * ConditionFailedError with the index of the first failed condition.
   */
  transact(writes: readonly Write[]): Promise<void>;
}

export class ConditionFailedError extends Error {
  /** Index of the write whose condition failed; 0 for a single write. */
  readonly index: number;

  constructor(key: ItemKey, index = 0) {
    super(`condition failed for ${key.pk} / ${key.sk}`);
    this.name = 'ConditionFailedError';
    this.index = index;
  }
}

/**
 * Rights of each function on objects of the bucket and items of the table: the minimum for its code. Pure data, so that tests
 * compare it with the calls of a bundle. Objects are distinguished by their kind, which follows the tenant in the key; items by
 * the family that starts their partition key (docs/dev/catalog.md#items).
 *
 * Pitfalls:
 *  - A DynamoDB transaction needs the right of each of its parts, and each part is checked with its own key.
 *  - Tenants cannot be separated here: one function serves all of them, and the code checks the tenant of a request.
 *  - Only functions that check or manage tokens have rights on them (`a/`), because writing a token grants any access.
 */

/** Part of an object key after the tenant. */
export type ObjectKind = 'chunks' | 'index';

/** Prefix of a partition key. */
export const FAMILIES = Object.freeze({
  tokens: ['a/*'],
  chunks: ['c/*'],
  days: ['d/*'],
  deletes: ['e/*', 'f/*', 'p/*', 'v/*'],
  garbage: ['g/*'],
  leases: ['l/*'],
  instances: ['m/*'],
  generations: ['n/*'],
  /** Demand of processes that accept pushes. */
  demand: ['x/*'],
  /** Saved queries and boards. */
  saved: ['b/*'],
  rules: ['r/*', 'rh/*', 'rs/*', 'rt/*'],
  streams: ['s/*'],
  tenants: ['t/*'],
  tails: ['tc/*', 'tm/*', 'tt/*', 'tx/*'],
  tailLog: ['tl/*'],
  usage: ['u/*'],
  work: ['w/*'],
  states: ['y/*'],
});

export type ItemFamily = keyof typeof FAMILIES;

export interface Rights {
  readonly getObjects?: readonly ObjectKind[];
  /** True if overrides may be in an object that the configuration names. */
  readonly getsOverrides?: boolean;
  readonly putObjects?: readonly ObjectKind[];
  readonly deleteObjects?: readonly ObjectKind[];
  /**
   * Right to list all objects. The orphan search needs it. All other functions that read objects need it,
   * too: without it, S3 answers 403 instead of 404 for a missing object. A condition on a prefix does not
   * work, because a read has no prefix.
   */
  readonly listsObjects?: boolean;
  /** Right to check the keys of the table, as processes do at their start. */
  readonly describesTable?: boolean;
  readonly readItems?: readonly ItemFamily[];
  /** Right to read and put the mark of the store, an object that a process sets at its first start. */
  readonly marksStore?: boolean;
  readonly putItems?: readonly ItemFamily[];
  readonly deleteItems?: readonly ItemFamily[];
  /** Conditions of transactions on items that they do not write. */
  readonly checkItems?: readonly ItemFamily[];
}

const BOTH: readonly ObjectKind[] = ['chunks', 'index'];
const ALL = Object.keys(FAMILIES) as ItemFamily[];
/** All families except tokens. */
const DATA: readonly ItemFamily[] = ALL.filter(family => family !== 'tokens');

/** Rights for pushes by any receiver. */
export const PUSH_RIGHTS: Rights = {
  // A put whose key exists reads what an earlier attempt wrote.
  getObjects: ['chunks'],
  getsOverrides: true,
  listsObjects: true,
  putObjects: ['chunks'],
  // Reads days, demand and streams of other processes, and whether the tenant has tails.
  readItems: ['chunks', 'days', 'demand', 'instances', 'states', 'streams', 'tails', 'tailLog', 'usage'],
  putItems: [
    ...(['chunks', 'days', 'demand', 'instances', 'streams', 'tailLog', 'tenants', 'usage', 'work'] as const),
  ],
  // A commit checks that its day still exists.
  checkItems: ['days'],
};

export const QUERY_RIGHTS: Rights = {
  getObjects: BOTH,
  getsOverrides: true,
  listsObjects: true,
  readItems: DATA,
  // Records queries for usage.
  putItems: ['instances', 'usage'],
};

/** Rights to export closed days. Its rights on the bucket of the files are in export-days.ts. */
export const EXPORT_RIGHTS: Rights = {
  getObjects: ['chunks'],
  getsOverrides: true,
  listsObjects: true,
  readItems: ['chunks', 'days', 'deletes', 'tenants'],
  // A lease keeps two runs apart.
  putItems: ['leases'],
  deleteItems: ['leases'],
};

export const WORKER_RIGHTS: Rights = { getObjects: BOTH, listsObjects: true };

export const MAINTENANCE_RIGHTS: Rights = {
  getObjects: BOTH,
  getsOverrides: true,
  putObjects: BOTH,
  deleteObjects: BOTH,
  listsObjects: true,
  // Its routes also manage tokens.
  readItems: ALL,
  putItems: ALL,
  deleteItems: ALL,
  // A swap depends on a lease; a write of rules or deletes depends on their count.
  checkItems: DATA,
};

/** Rights of a process that only accepts pushes (`logboom start --target write`). */
export const WRITE_SERVICE_RIGHTS: Rights = {
  ...PUSH_RIGHTS,
  describesTable: true,
  marksStore: true,
  // Compares the catalog with the mark of the store at its start.
  readItems: [...PUSH_RIGHTS.readItems!, 'tenants'],
  putItems: [...PUSH_RIGHTS.putItems!, 'states'],
  // Leaves the members when it stops.
  deleteItems: ['instances'],
};

/** The same if the process checks tokens itself. */
export const WRITE_SERVICE_TOKEN_RIGHTS: Rights = {
  ...WRITE_SERVICE_RIGHTS,
  readItems: [...WRITE_SERVICE_RIGHTS.readItems!, 'tokens'],
  // Day of a token's last use.
  putItems: [...WRITE_SERVICE_RIGHTS.putItems!, 'tokens'],
};

/** Rights of a function that serves all routes. */
export const ALL_IN_ONE_RIGHTS: Rights = MAINTENANCE_RIGHTS;

export const STATUS_RIGHTS: Rights = {
  // Reads rule states, counters of all instances, and the log level.
  readItems: ['instances', 'rules', 'states'],
  putItems: ['instances', 'states'],
};

export const AUTHORIZER_RIGHTS: Rights = {
  readItems: ['tokens'],
  // Day of a token's last use.
  putItems: ['tokens'],
  // Deletes a ticket after its single use.
  deleteItems: ['tokens'],
};

/** Rights to create one token, and to check if it was created. */
export const FIRST_TOKEN_RIGHTS: Rights = {
  readItems: ['tokens'],
  putItems: ['tokens'],
};

/** Rights to check for work, but not to do it. */
export const TIMER_RIGHTS: Rights = {
  readItems: ['deletes', 'garbage', 'rules', 'states', 'tails', 'work'],
};

const TAIL_ITEMS: readonly ItemFamily[] = ['instances', 'leases', 'tails'];

export const TAIL_CONNECT_RIGHTS: Rights = {
  getsOverrides: true,
  readItems: ['instances', 'states', 'tails'],
  putItems: ['instances', 'tails'],
  deleteItems: ['tails'],
};

export const TAIL_DISCONNECT_RIGHTS: Rights = {
  getsOverrides: true,
  readItems: ['instances', 'states', 'tails'],
  putItems: ['instances'],
  deleteItems: ['tails'],
};

export const TAIL_DISPATCH_RIGHTS: Rights = {
  getObjects: BOTH,
  getsOverrides: true,
  listsObjects: true,
  readItems: DATA,
  putItems: TAIL_ITEMS,
  deleteItems: ['leases', 'tails'],
};

/** Key of the mark (local/storage.ts). */
export const STORE_MARK = 'store-begun';

/** Sorted partition key patterns of families, for the condition of a right. */
export function patternsOf(families: readonly ItemFamily[]): string[] {
  return families.flatMap(family => FAMILIES[family]).sort();
}

/**
 * What each function may do with objects of the bucket and items of the table: the least that its code needs. Pure data, so that
 * tests compare it with the calls that a bundle makes. Objects are told apart by their kind, which follows the tenant in the
 * key; items by the family that their partition key begins with (docs/dev/catalog.md#items).
 *
 * What a reader would get wrong:
 *  - A transaction of DynamoDB needs the right of each of its parts, and each part is looked at with its own key.
 *  - Tenants cannot be kept apart here: one function serves all of them, and which tenant a request has is checked by the code.
 *  - Tokens (`a/`) are left out of every list but that of those who check or manage them: who can write one can become anybody.
 */

/** What follows the tenant in the key of an object. */
export type ObjectKind = 'chunks' | 'index';

/** What a partition key begins with. */
export const FAMILIES = Object.freeze({
  tokens: ['a/*'],
  chunks: ['c/*'],
  days: ['d/*'],
  deletes: ['e/*', 'f/*', 'p/*', 'v/*'],
  garbage: ['g/*'],
  leases: ['l/*'],
  instances: ['m/*'],
  generations: ['n/*'],
  /** Of processes that take pushes. */
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

export type Family = keyof typeof FAMILIES;

export interface Rights {
  readonly getObjects?: readonly ObjectKind[];
  /** Limits of tenants may lie in an object that the configuration names. */
  readonly getsOverrides?: boolean;
  readonly putObjects?: readonly ObjectKind[];
  readonly deleteObjects?: readonly ObjectKind[];
  /**
   * The names of all objects. The walk for orphans asks for them; all others that read objects have it because S3 answers 403
   * for an object that is missing to who may not list the bucket, and 404 to who may. A condition on a prefix does not do:
   * a read has no prefix.
   */
  readonly listsObjects?: boolean;
  readonly readItems?: readonly Family[];
  readonly putItems?: readonly Family[];
  readonly deleteItems?: readonly Family[];
  /** Conditions of transactions on items that they do not write. */
  readonly checkItems?: readonly Family[];
}

const BOTH: readonly ObjectKind[] = ['chunks', 'index'];
const ALL = Object.keys(FAMILIES) as Family[];
/** Everything but tokens. */
const DATA: readonly Family[] = ALL.filter(family => family !== 'tokens');

/** A push, whichever way it comes in. */
export const PUSH_RIGHTS: Rights = {
  // A put that finds its key taken reads what an earlier try has written.
  getObjects: ['chunks'],
  getsOverrides: true,
  listsObjects: true,
  putObjects: ['chunks'],
  // Days, other processes' demand and streams, and whether the tenant has tails.
  readItems: ['chunks', 'days', 'demand', 'instances', 'states', 'streams', 'tails', 'tailLog', 'usage'],
  putItems: [
    ...(['chunks', 'days', 'demand', 'instances', 'streams', 'tailLog', 'tenants', 'usage', 'work'] as const),
  ],
  // A commit looks whether its day is there still.
  checkItems: ['days'],
};

export const QUERY_RIGHTS: Rights = {
  getObjects: BOTH,
  getsOverrides: true,
  listsObjects: true,
  readItems: DATA,
  // It writes down what was asked, for usage.
  putItems: ['instances', 'usage'],
};

export const WORKER_RIGHTS: Rights = { getObjects: ['chunks'], listsObjects: true };

export const MAINTENANCE_RIGHTS: Rights = {
  getObjects: BOTH,
  getsOverrides: true,
  putObjects: BOTH,
  deleteObjects: BOTH,
  listsObjects: true,
  // Its routes manage tokens, too.
  readItems: ALL,
  putItems: ALL,
  deleteItems: ALL,
  // A swap depends on a lease, a write of rules or deletes on their count.
  checkItems: DATA,
};

/** It serves all routes. */
export const ALL_IN_ONE_RIGHTS: Rights = MAINTENANCE_RIGHTS;

export const STATUS_RIGHTS: Rights = {
  // What rules fire, what all instances have counted, and the log level.
  readItems: ['instances', 'rules', 'states'],
  putItems: ['instances', 'states'],
};

export const AUTHORIZER_RIGHTS: Rights = {
  readItems: ['tokens'],
  // The day that a token was used last.
  putItems: ['tokens'],
  // A ticket is good once.
  deleteItems: ['tokens'],
};

/** It makes one token, and reads whether it was made. */
export const FIRST_TOKEN_RIGHTS: Rights = {
  readItems: ['tokens'],
  putItems: ['tokens'],
};

/** It looks whether there is work, and does none. */
export const TIMER_RIGHTS: Rights = {
  readItems: ['deletes', 'garbage', 'rules', 'states', 'tails', 'work'],
};

const TAIL_ITEMS: readonly Family[] = ['instances', 'leases', 'tails'];

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

/** Patterns of the partition keys of families, for the condition of a right; in order. */
export function patternsOf(families: readonly Family[]): string[] {
  return families.flatMap(family => FAMILIES[family]).sort();
}

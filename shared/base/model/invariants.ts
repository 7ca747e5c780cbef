/**
 * Registry of invariants: named statements that must always hold (docs/dev/architecture.md#guarantees). The
 * simulation checks them by name and the code asserts them at critical places. docs/dev/invariants.md is
 * generated from this list.
 *
 * Pitfall: a broken invariant is a defect of the program, never an error that a client or a port can cause.
 * Use a ClientError or an error of a port for those.
 */

export interface Invariant {
  /** Name in kebab case; appears in the error message. */
  readonly name: string;
  readonly sentence: string;
  /** Page and anchor below docs/dev that states the invariant. */
  readonly section: string;
  /**
   * Checks of the invariant. `simulation`: in every simulated run. `assertion`: the code throws if it does
   * not hold. `tests`: in separate tests. `nothing yet`: the promise is not implemented or not checked.
   */
  readonly checkedBy: readonly ('simulation' | 'assertion' | 'tests')[];
}

export const INVARIANTS = Object.freeze({
  acknowledgedIsFound: {
    name: 'acknowledged-is-found',
    sentence:
      'An acknowledged entry is returned by every query that selects it and starts after the response, until retention or a delete request removes it.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation', 'assertion', 'tests'],
  },
  exactlyOnce: {
    name: 'exactly-once',
    sentence:
      'The same entry (stream, timestamp, line, metadata) is returned once and counted once, however often it was pushed.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation', 'tests'],
  },
  onlyWhatWasPushed: {
    name: 'only-what-was-pushed',
    sentence: 'A query returns no entry that its tenant did not push, and none that it does not select.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation'],
  },
  answersSurvive: {
    name: 'answers-survive',
    sentence:
      'A crash, a retry, a duplicate invocation or concurrent maintenance changes no result: all processes return the same.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation'],
  },
  tenantsApart: {
    name: 'tenants-apart',
    sentence: 'No request of one tenant reads, counts or deletes data of another.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation', 'tests'],
  },
  failuresAreNamed: {
    name: 'failures-are-named',
    sentence: 'A request fails with a client error, a port error, or an abort. Any other error is a defect.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation'],
  },
  requestsEnd: {
    name: 'requests-end',
    sentence: 'Every request ends if its process runs and external systems respond.',
    section: 'architecture.md#guarantees',
    checkedBy: ['simulation'],
  },
  memoryIsBounded: {
    name: 'memory-is-bounded',
    sentence: 'The configuration limits memory for any pushes and queries.',
    section: 'architecture.md#guarantees',
    checkedBy: ['tests'],
  },
  runsRepeat: {
    name: 'runs-repeat',
    sentence: 'With the same clock, IDs and stores, equal requests make equal calls to ports.',
    section: 'architecture.md#rules-of-the-code',
    checkedBy: ['simulation'],
  },
  chunkInsideItsDay: {
    name: 'chunk-inside-its-day',
    sentence: 'A chunk holds entries of one tenant and never crosses a UTC day.',
    section: 'architecture.md#storage',
    checkedBy: ['simulation', 'assertion'],
  },
  rowsAscend: {
    name: 'rows-ascend',
    sentence: 'The rows of a page ascend by stream and timestamp.',
    section: 'format.md#33-pages',
    checkedBy: ['assertion', 'tests'],
  },
  checksumsHold: {
    name: 'checksums-hold',
    sentence: 'Every stored block is compared with its checksum before it is used.',
    section: 'format.md#2-blocks',
    checkedBy: ['simulation', 'assertion', 'tests'],
  },
  objectsNeverChange: {
    name: 'objects-never-change',
    sentence: 'A key is written with one content only: a chunk ID belongs to one write.',
    section: 'architecture.md#write-path',
    checkedBy: ['simulation'],
  },
  objectBeforeRecord: {
    name: 'object-before-record',
    sentence: 'A record is written after the object that it names is durable.',
    section: 'architecture.md#write-path',
    checkedBy: ['simulation'],
  },
  dayIsAnnounced: {
    name: 'day-is-announced',
    sentence: 'The commit of a chunk keeps the item of its day, so that queries find it.',
    section: 'catalog.md#announcements',
    checkedBy: ['simulation'],
  },
  workIsAnnounced: {
    name: 'work-is-announced',
    sentence: 'The commit of a push announces outstanding work for its day, so that maintenance finds it.',
    section: 'catalog.md#announcements',
    checkedBy: ['simulation'],
  },
  swapIsFenced: {
    name: 'swap-is-fenced',
    sentence: 'Only the holder of the lease replaces chunks.',
    section: 'compaction.md#swaps',
    checkedBy: ['simulation'],
  },
  swapRaisesVersion: {
    name: 'swap-raises-version',
    sentence: 'A step of a swap that changes chunks raises the version of their day in the same transaction.',
    section: 'compaction.md#swaps',
    checkedBy: ['simulation'],
  },
  swapKeepsEntries: {
    name: 'swap-keeps-entries',
    sentence:
      'Every step of a swap preserves the set of entries, except those that retention or a delete request removes.',
    section: 'compaction.md#swaps',
    checkedBy: ['simulation', 'assertion'],
  },
  readsOneVersion: {
    name: 'reads-one-version',
    sentence:
      'A query during a swap reads either all inputs or all outputs, however parts of transactions become visible.',
    section: 'catalog.md#reading-a-day',
    checkedBy: ['simulation', 'tests'],
  },
  readersMissNoObject: {
    name: 'readers-miss-no-object',
    sentence:
      'A reader never finds an object missing: objects are deleted after the grace period, and only if no record references them.',
    section: 'compaction.md#garbage-collection',
    checkedBy: ['simulation'],
  },
  expiredIsNotSeen: {
    name: 'expired-is-not-seen',
    sentence: 'Readers ignore a table item after its expiry.',
    section: 'catalog.md#rules',
    checkedBy: ['simulation', 'tests'],
  },
  indexAgreesWithChunks: {
    name: 'index-agrees-with-chunks',
    sentence: 'An index has the same data about a chunk as the footer of the chunk.',
    section: 'catalog.md#the-day-index',
    checkedBy: ['simulation', 'tests'],
  },
  orphansAreCollected: {
    name: 'orphans-are-collected',
    sentence:
      'Orphans of pushes, merges and syncs are deleted after a day. Younger objects, and objects that a record references, are not.',
    section: 'compaction.md#garbage-collection',
    checkedBy: ['simulation'],
  },
  workIsDone: {
    name: 'work-is-done',
    sentence: 'Later runs do announced and requested work, and remove its day from the list.',
    section: 'compaction.md#jobs-and-flushes',
    checkedBy: ['simulation'],
  },
  removedIsHidden: {
    name: 'removed-is-hidden',
    sentence:
      'No result contains an entry that a delete request covered, or that had expired, before the query started.',
    section: 'deletion.md#hidden-entries',
    checkedBy: ['simulation', 'tests'],
  },
  onlyWhatMayGoes: {
    name: 'only-what-may-goes',
    sentence:
      'A row is dropped only if a request that was picked up and not canceled covers it, or if it has expired.',
    section: 'deletion.md#compaction-and-deletes',
    checkedBy: ['simulation', 'assertion'],
  },
  claimsAreTrue: {
    name: 'claims-are-true',
    sentence:
      'A chunk whose record says that delete requests were applied to it holds no row of one picked up before.',
    section: 'deletion.md#compaction-and-deletes',
    checkedBy: ['simulation'],
  },
  deletedIsGone: {
    name: 'deleted-is-gone',
    sentence:
      'When a delete request is sealed, no record names a row that it covered when it was picked up; when it is processed, none that it covers, for good.',
    section: 'deletion.md#states',
    checkedBy: ['simulation', 'tests'],
  },
  deletesMoveForward: {
    name: 'deletes-move-forward',
    sentence:
      'A delete request is picked up, sealed and processed in this order, once each, and its progress never decreases.',
    section: 'deletion.md#states',
    checkedBy: ['simulation'],
  },
  filtersAreSound: {
    name: 'filters-are-sound',
    sentence: 'Pruned data contains nothing that the query selects.',
    section: 'read-path.md#what-is-not-read',
    checkedBy: ['tests'],
  },
  partialsAreFiltered: {
    name: 'partials-are-filtered',
    sentence:
      'Counts and cached partial results are used only if no delete request or changed retention affects them.',
    section: 'read-path.md#what-is-not-read',
    checkedBy: ['simulation', 'tests'],
  },
  pushWaitsForNoTail: {
    name: 'push-waits-for-no-tail',
    sentence: 'A push never waits for a tail.',
    section: 'tail.md#guarantees',
    checkedBy: ['tests'],
  },
  noEvaluationIsSkipped: {
    name: 'no-evaluation-is-skipped',
    sentence: 'A missed evaluation of a rule group is caught up or reported, never silently skipped.',
    section: 'rules-evaluation.md#schedule',
    checkedBy: ['tests'],
  },
} satisfies Readonly<Record<string, Invariant>>);

export class BrokenInvariantError extends Error {
  readonly invariant: Invariant;

  constructor(broken: Invariant, details: string, options?: ErrorOptions) {
    super(`invariant broken: ${broken.name}: ${details}`, options);
    this.name = 'BrokenInvariantError';
    this.invariant = broken;
  }
}

/**
 * Throws BrokenInvariantError if the condition does not hold. `details` are values that help to find the
 * cause. Pass a function if they are expensive to format.
 */
export function mustHold(
  broken: Invariant,
  condition: boolean,
  details: string | (() => string),
): asserts condition {
  if (!condition) throw new BrokenInvariantError(broken, typeof details === 'string' ? details : details());
}

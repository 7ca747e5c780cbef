/** Problems that an integrity check can find, and what to do about them. */
export type ProblemKind =
  /** A record refers to an object that does not exist. */
  | 'missing-object'
  /** Bytes differ from what was written: a checksum, a length or a structure is invalid. */
  | 'corrupt'
  /** An object and its record, or a footer and its pages, contradict each other. */
  | 'mismatch'
  /** The index object of a day is damaged or missing. Results stay correct, but queries cost more. */
  | 'index'
  /** The file of the local catalog is damaged. */
  | 'catalog'
  /**
   * The catalog has no record of most stored chunks: it was lost, emptied, or restored from an old backup.
   */
  | 'lost-records'
  /**
   * An object without a record. It uses space and is deleted when it is one day old. Not a problem by itself.
   */
  | 'orphan';

export interface Problem {
  readonly kind: ProblemKind;
  /** Object key, or the subject of the records. */
  readonly where: string;
  readonly message: string;
}

const ADVICE: Readonly<Record<ProblemKind, string>> = {
  'missing-object':
    'restore the object from a backup, or accept its loss with --rebuild-catalog --forget-missing; queries that need it fail until then',
  corrupt: 'restore it from a backup; queries that need it fail until then',
  mismatch: 'restore the object, or the catalog, from a backup',
  index: 'none needed: queries read the footers instead; PUT /sync-indexes writes a new index',
  catalog:
    'stop the store, then restore the catalog from a backup, or move it aside and run logboom doctor --rebuild-catalog --stopped',
  'lost-records':
    'stop the store, then restore the catalog from a backup, or run logboom doctor --rebuild-catalog --stopped',
  orphan: 'none needed: garbage collection deletes it',
};

/** Advice for the operator of the store. */
export function adviceForProblem({ kind }: Problem): string {
  return ADVICE[kind];
}

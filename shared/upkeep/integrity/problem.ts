/** What a check of the store may find, and what to do about it. */
export type ProblemKind =
  /** A record names an object that is not there. */
  | 'missing-object'
  /** Bytes that are not what was written: a checksum, a length or a form is wrong. */
  | 'corrupt'
  /** An object and its record, or a footer and its pages, disagree. */
  | 'mismatch'
  /** The index object of a day is damaged or gone: answers stay right, they cost more. */
  | 'index'
  /** The file of the local catalog is damaged. */
  | 'catalog'
  /** The catalog does not know most of what is stored: it was lost, emptied, or restored from an old backup. */
  | 'lost-records'
  /** An object that no record names; it costs its bytes and is collected when it is a day old. No problem by itself. */
  | 'orphan';

export interface Problem {
  readonly kind: ProblemKind;
  /** Object key, or what the records are of. */
  readonly where: string;
  readonly message: string;
}

const ADVICE: Readonly<Record<ProblemKind, string>> = {
  'missing-object':
    'restore the object from a backup, or accept its loss with --rebuild-catalog --forget-missing; queries that need it fail until then',
  corrupt: 'restore it from a backup; queries that need it fail until then',
  mismatch: 'restore the object, or the catalog, from a backup',
  index: 'queries read the footers instead; PUT /sync-indexes writes a new one',
  catalog:
    'stop the store, then restore the catalog from a backup, or move it aside and run logboom doctor --rebuild-catalog --stopped',
  'lost-records':
    'stop the store, then restore the catalog from a backup, or run logboom doctor --rebuild-catalog --stopped',
  orphan: 'nothing: it is collected by itself',
};

/** What whoever operates the store does about it. */
export function adviceFor({ kind }: Problem): string {
  return ADVICE[kind];
}

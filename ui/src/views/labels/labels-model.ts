/** Labels and values as the label browser lists them. */
import type { DetectedLabel, Labels, LabelVolume } from '../../api/types.ts';

export interface LabelRow {
  readonly name: string;
  /** Undefined where the store does not tell. */
  readonly bytes: number | undefined;
  readonly values: number | undefined;
}

/** Those of most bytes first, then by name. The store's own (`__stream_shard__`) are left out. */
export function labelRows(
  names: readonly string[],
  volumes: readonly LabelVolume[],
  detected: readonly DetectedLabel[],
): readonly LabelRow[] {
  const bytes = new Map(volumes.map(({ label, bytes: sum }) => [label, sum]));
  const values = new Map(detected.map(({ label, cardinality }) => [label, cardinality]));
  return names
    .filter(name => !/^__.*__$/.test(name))
    .map(name => ({ name, bytes: bytes.get(name), values: values.get(name) }))
    .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || (a.name < b.name ? -1 : 1));
}

export interface ValueRow {
  readonly value: string;
  /** Undefined where the store does not tell. */
  readonly bytes: number | undefined;
  /** Of the bytes of all values, 0 to 1. */
  readonly share: number;
}

/**
 * Values of a label, largest first. A chosen one that is not there (the range or another choice rules it out) stays in the
 * list with no bytes, so that it can be taken back.
 */
export function valueRows(
  label: string,
  volumes: readonly { readonly labels: Labels; readonly bytes: number }[],
  chosen: readonly string[],
): readonly ValueRow[] {
  const total = volumes.reduce((sum, { bytes }) => sum + bytes, 0);
  const rows = volumes.map(({ labels, bytes }) => ({
    value: labels[label] ?? '',
    bytes,
    share: total === 0 ? 0 : bytes / total,
  }));
  const known = new Set(rows.map(({ value }) => value));
  return [
    ...rows,
    ...chosen.filter(value => !known.has(value)).map(value => ({ value, bytes: 0, share: 0 })),
  ];
}

/** The same where there are no volumes. */
export function plainRows(values: readonly string[]): readonly ValueRow[] {
  return values.map(value => ({ value, bytes: undefined, share: 0 }));
}

/** Those whose text has all the words, in any case. */
export function matching<T>(rows: readonly T[], text: string, of: (row: T) => string): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0
    ? rows
    : rows.filter(row => words.every(word => of(row).toLowerCase().includes(word)));
}

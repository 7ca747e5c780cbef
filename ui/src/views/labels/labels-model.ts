/** Labels and values as the label browser lists them. */
import type { DetectedLabel, Labels, LabelVolume } from '../../api/types.ts';

export interface LabelRow {
  readonly name: string;
  /** Undefined if the store does not report it. */
  readonly bytes: number | undefined;
  readonly values: number | undefined;
}

/** Labels by bytes, largest first, then by name. Omits the store's own labels (`__stream_shard__`). */
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
  /** Undefined if the store does not report it. */
  readonly bytes: number | undefined;
  /** Share of the bytes of all values, 0 to 1. */
  readonly share: number;
}

/**
 * Values of a label, largest first. A chosen value that is missing (in another range, or because of another
 * choice) stays in the list with no bytes, so that it can be removed.
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

/** Rows for values without volumes. */
export function plainRows(values: readonly string[]): readonly ValueRow[] {
  return values.map(value => ({ value, bytes: undefined, share: 0 }));
}

/** Rows whose text contains all words, in any case. */
export function matching<T>(rows: readonly T[], text: string, of: (row: T) => string): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0
    ? rows
    : rows.filter(row => words.every(word => of(row).toLowerCase().includes(word)));
}

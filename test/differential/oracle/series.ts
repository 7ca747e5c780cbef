/** Series and instant vectors, and the arithmetic on them (docs/dev/logql-semantics.md#vector-aggregations, #binary-operations). */
import type { Bytes } from './bytes.ts';

export type SeriesLabels = ReadonlyMap<Bytes, Bytes>;

export interface Element {
  readonly labels: SeriesLabels;
  readonly value: number;
}

/** All series at one instant. */
export type Vector = readonly Element[];

export function keyOf(labels: SeriesLabels): string {
  return JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function withoutEmpty(labels: SeriesLabels): Map<Bytes, Bytes> {
  return new Map([...labels].filter(([, value]) => value !== ''));
}

/** Labels with these names, or with all others. */
export function chosen(labels: SeriesLabels, names: readonly string[], without: boolean): Map<Bytes, Bytes> {
  return new Map([...labels].filter(([name]) => names.includes(name) !== without));
}

export function groupBy<T>(items: readonly T[], keyOfItem: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

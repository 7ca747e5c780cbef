/** Label sets of rules: plain objects, because they are written, sent and rendered. An empty value is no label. */
import type { SeriesLabels } from '../../storage/catalog/rule-state.ts';

export const NAME_LABEL = '__name__';

/** Same for the same labels in any order. */
export function labelsKey(labels: SeriesLabels): string {
  return JSON.stringify(sortedLabels(labels));
}

export function sortedLabels(labels: SeriesLabels): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Later ones win; what is empty at the end is taken away. */
export function joinLabels(...sets: readonly SeriesLabels[]): SeriesLabels {
  const joined = new Map(sets.flatMap(set => Object.entries(set)));
  return Object.fromEntries([...joined].filter(([, value]) => value !== ''));
}

/**
 * Label sets of rules: plain objects, because they are stored, sent and rendered. An empty value means no
 * label.
 */
import type { RuleLabels } from '../../storage/catalog/rule-state.ts';

export const NAME_LABEL = '__name__';

/** Equal for the same labels in any order. */
export function ruleLabelsKey(labels: RuleLabels): string {
  return JSON.stringify(sortedLabels(labels));
}

function sortedLabels(labels: RuleLabels): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Later sets override earlier ones. Empty values are removed at the end. */
export function joinLabels(...sets: readonly RuleLabels[]): RuleLabels {
  const joined = new Map(sets.flatMap(set => Object.entries(set)));
  return Object.fromEntries([...joined].filter(([, value]) => value !== ''));
}

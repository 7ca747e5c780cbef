/** Filter and order of rules: those that need attention come first. */
import type { ActiveAlert, Rule, RuleGroup } from '../../api/rules-types.ts';

/** State of a rule; `broken` if its last evaluation failed. */
export type RuleStatus = 'broken' | 'firing' | 'pending' | 'inactive' | 'unknown' | 'recording';
type RuleStateFilter = 'all' | Exclude<RuleStatus, 'unknown'>;

export const RULE_FILTERS: readonly RuleStateFilter[] = [
  'all',
  'firing',
  'pending',
  'broken',
  'inactive',
  'recording',
];

const RANKS: Readonly<Record<RuleStatus, number>> = {
  firing: 0,
  broken: 1,
  pending: 2,
  unknown: 3,
  inactive: 4,
  recording: 5,
};

export function stateOfRule(rule: Rule): RuleStatus {
  if (rule.type === 'alerting' && rule.state === 'firing') return 'firing';
  if (rule.health === 'err') return 'broken';
  return rule.type === 'recording' ? 'recording' : rule.state;
}

export function filterOf(text: string | undefined): RuleStateFilter {
  return RULE_FILTERS.find(known => known === text) ?? 'all';
}

/** Number of rules per filter. */
export function countRules(groups: readonly RuleGroup[]): Readonly<Record<RuleStateFilter, number>> {
  const counts = { all: 0, firing: 0, pending: 0, broken: 0, inactive: 0, recording: 0 };
  for (const { rules } of groups) {
    counts.all += rules.length;
    for (const rule of rules) {
      const filter = RULE_FILTERS.find(known => isShown(rule, known) && known !== 'all');
      if (filter !== undefined) counts[filter]++;
    }
  }
  return counts;
}

/** A rule that was never evaluated counts as inactive. */
function isShown(rule: Rule, filter: RuleStateFilter): boolean {
  if (filter === 'all') return true;
  const state = stateOfRule(rule);
  if (state === 'unknown') return filter === 'inactive';
  return state === filter;
}

/**
 * Groups with the matching rules; empty groups are omitted. Groups are sorted by their most urgent rule, then
 * by name. Rules keep their evaluation order, except that firing and broken ones come first.
 */
export function shownGroups(
  groups: readonly RuleGroup[],
  { filter, text }: { readonly filter: RuleStateFilter; readonly text: string },
): readonly RuleGroup[] {
  const wanted = text.trim().toLowerCase();
  const found = groups.flatMap(group => {
    const ofGroup = `${group.file} ${group.name}`.toLowerCase().includes(wanted);
    const rules = group.rules.filter(
      rule => isShown(rule, filter) && (ofGroup || textOf(rule).includes(wanted)),
    );
    if (rules.length === 0) return [];
    return [{ ...group, rules: rules.toSorted((a, b) => urgencyOf(a) - urgencyOf(b)) }];
  });
  return found.toSorted(
    (a, b) =>
      urgencyOf(a.rules[0]) - urgencyOf(b.rules[0]) ||
      a.file.localeCompare(b.file) ||
      a.name.localeCompare(b.name),
  );
}

function urgencyOf(rule: Rule): number {
  return Math.min(RANKS[stateOfRule(rule)], RANKS.unknown);
}

function textOf({ name, query, labels, lastError }: Rule): string {
  return [name, query, ...Object.entries(labels).flat(), lastError].join(' ').toLowerCase();
}

/** Firing alerts, then pending ones, newest first. */
export function sortedAlerts(alerts: readonly ActiveAlert[], text: string): readonly ActiveAlert[] {
  const wanted = text.trim().toLowerCase();
  return alerts
    .filter(({ labels, annotations }) =>
      [...Object.entries(labels).flat(), ...Object.values(annotations)]
        .join(' ')
        .toLowerCase()
        .includes(wanted),
    )
    .toSorted((a, b) =>
      a.state === b.state ? b.activeAt.localeCompare(a.activeAt) : a.state === 'firing' ? -1 : 1,
    );
}

/** Unix ms; undefined for the year 1, which is Go's zero time. */
export function momentOf(rfc3339: string): number | undefined {
  const ms = Date.parse(rfc3339);
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}

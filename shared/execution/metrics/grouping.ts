/**
 * Groups series by labels, and numbers label sets.
 *
 * Pitfall: a label with an empty value is a label (docs/dev/logql-semantics.md#labels-of-a-series). It distinguishes two groups, and
 * remains in the labels of a `by` group. After `without`, it disappears from the labels, while the groups
 * remain separate.
 */

import { type Labels, NO_LABELS } from '../../base/model/labels.ts';
import type { Grouping } from '../../language/logql/ast.ts';
import { MEMBERS_A_STEP, type Steps } from './steps.ts';

/**
 * Returns a text that is equal for two label sets exactly if they are equal. It is cheaper than the canonical
 * text.
 */
export function labelsKey(labels: Labels): string {
  let key = '';
  for (let i = 0; i < labels.length; i++) {
    const { name, value } = labels[i];
    key += `${name.length}:${name}${value.length}:${value}`;
  }
  return key;
}

/** Returns whether a label is part of a group's key. */
export type GroupKeyTest = (name: string) => boolean;

/** Selects the labels that distinguish groups. No grouping means `by ()`. */
function groupTest(grouping: Grouping | undefined): GroupKeyTest {
  const listed = new Set(grouping?.labels);
  if (grouping === undefined || !grouping.without) return name => listed.has(name);
  return name => !listed.has(name) && name !== '__name__';
}

export function keepLabels(labels: Labels, test: GroupKeyTest): Labels {
  const kept = labels.filter(({ name }) => test(name));
  return kept.length === labels.length ? labels : kept.length === 0 ? NO_LABELS : kept;
}

export function withoutEmpty(labels: Labels): Labels {
  return labels.every(({ value }) => value !== '') ? labels : labels.filter(({ value }) => value !== '');
}

/** Returns the labels that a group shows, out of the labels that distinguish it. */
function shownLabels(groupLabels: Labels, grouping: Grouping | undefined): Labels {
  return grouping?.without === true ? withoutEmpty(groupLabels) : groupLabels;
}

/** Members of one group, in order of first appearance. */
interface MemberGroup<Member> {
  readonly labels: Labels;
  readonly members: Member[];
}

/** Groups members by their labels; computes the key of each member once. */
export function* groupBy<Member extends { readonly labels: Labels }>(
  members: readonly Member[],
  grouping: Grouping | undefined,
): Steps<MemberGroup<Member>[]> {
  const test = groupTest(grouping);
  const groups = new Map<string, MemberGroup<Member>>();
  let seen = 0;
  for (const member of members) {
    const labels = grouping === undefined ? NO_LABELS : keepLabels(member.labels, test);
    const key = labelsKey(labels);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { labels: shownLabels(labels, grouping), members: [member] });
    else group.members.push(member);
    if (++seen % MEMBERS_A_STEP === 0) yield;
  }
  return [...groups.values()];
}

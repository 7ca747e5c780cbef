/**
 * Grouping of series by labels, and numbering of label sets.
 *
 * What a reader would get wrong: a label with an empty value is a label (docs/dev/logql-semantics.md#labels-of-a-series). It
 * tells two groups apart, and stays in the labels of a `by` group; after `without` it vanishes from the labels, while the groups
 * stay two.
 */

import { type Labels, NO_LABELS } from '../../base/model/labels.ts';
import type { SeriesTable } from '../../base/model/samples.ts';
import type { Grouping } from '../../language/logql/ast.ts';
import { MEMBERS_A_STEP, type Steps } from './steps.ts';

/** A text that two label sets share exactly when they are equal; cheaper than the canonical text. */
export function labelsKey(labels: Labels): string {
  let key = '';
  for (let i = 0; i < labels.length; i++) {
    const { name, value } = labels[i];
    key += `${name.length}:${name}${value.length}:${value}`;
  }
  return key;
}

/** Says whether a label is part of a group's key. */
export type LabelTest = (name: string) => boolean;

/** The labels that tell groups apart. No grouping is `by ()`. */
export function groupTest(grouping: Grouping | undefined): LabelTest {
  const listed = new Set(grouping?.labels);
  if (grouping === undefined || !grouping.without) return name => listed.has(name);
  return name => !listed.has(name) && name !== '__name__';
}

export function keepLabels(labels: Labels, test: LabelTest): Labels {
  const kept = labels.filter(({ name }) => test(name));
  return kept.length === labels.length ? labels : kept.length === 0 ? NO_LABELS : kept;
}

export function withoutEmpty(labels: Labels): Labels {
  return labels.every(({ value }) => value !== '') ? labels : labels.filter(({ value }) => value !== '');
}

/** Labels that a group shows, of those that tell it apart. */
export function shownLabels(groupLabels: Labels, grouping: Grouping | undefined): Labels {
  return grouping?.without === true ? withoutEmpty(groupLabels) : groupLabels;
}

/** Things by group, in order of first appearance. */
export interface Group<Member> {
  readonly labels: Labels;
  readonly members: Member[];
}

/** Groups what has labels; the key of each member is computed once. */
export function* groupBy<Member extends { readonly labels: Labels }>(
  members: readonly Member[],
  grouping: Grouping | undefined,
): Steps<Group<Member>[]> {
  const test = groupTest(grouping);
  const groups = new Map<string, Group<Member>>();
  let seen = 0;
  for (const member of members) {
    const labels = keepLabels(member.labels, test);
    const key = labelsKey(labels);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { labels: shownLabels(labels, grouping), members: [member] });
    else group.members.push(member);
    if (++seen % MEMBERS_A_STEP === 0) yield;
  }
  return [...groups.values()];
}

/**
 * Numbers label sets from 0, so that extractors and workers with series tables of their own can share an accumulator.
 * With a grouping, series of one group get one number.
 */
export class SeriesIndex implements SeriesTable {
  readonly #numbers = new Map<string, number>();
  readonly #shown: Labels[] = [];
  readonly #grouping: Grouping | undefined;
  readonly #test: LabelTest | undefined;

  constructor(grouping?: Grouping) {
    this.#grouping = grouping;
    this.#test = grouping === undefined ? undefined : groupTest(grouping);
  }

  get count(): number {
    return this.#shown.length;
  }

  labelsOf(series: number): Labels {
    return this.#shown[series];
  }

  numberOf(labels: Labels): number {
    const kept = this.#test === undefined ? labels : keepLabels(labels, this.#test);
    const key = labelsKey(kept);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#shown.length;
      this.#numbers.set(key, number);
      this.#shown.push(shownLabels(kept, this.#grouping));
    }
    return number;
  }

  /**
   * This index's number of each series of a table. `known` is the map that an earlier call gave for the same table,
   * whose entries stay as they are.
   */
  mapOf(table: SeriesTable, known?: Uint32Array): Uint32Array {
    if (known !== undefined && known.length === table.count) return known;
    const map = new Uint32Array(table.count);
    if (known !== undefined) map.set(known);
    for (let i = known?.length ?? 0; i < map.length; i++) map[i] = this.numberOf(table.labelsOf(i));
    return map;
  }
}

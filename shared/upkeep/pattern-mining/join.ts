/**
 * Makes few templates of many: those of chunks and streams that saw the same kind of event, and rare ones whose ends vary.
 * Only which template stands for which is told: counts are the caller's.
 */
import { MAX_JOIN_CANDIDATES } from './bounds.ts';
import { isSimilar } from './similarity.ts';
import { beginningOf, joinTemplates, parseTemplate, type Template } from './template.ts';

/** So many rare templates with the same first words become one that is open at its end. */
const MIN_ALIKE = 3;
/** First words that are looked at, most first: what more lines share says more. */
const BEGINNINGS: readonly number[] = [6, 4, 3, 2, 1];

/** A value that so many lines share is as good as text. */
const FIRM_LINES = 8;

interface Joined {
  template: Template;
  lines: number;
  readonly members: number[];
}

export interface ToJoin {
  readonly key: string;
  /** Templates of different groups are never joined: those of different levels. */
  readonly group: number;
  readonly lines: number;
}

/**
 * For each template the key of the one that stands for it.
 * @param rareBelow templates of fewer lines may become one that is open at its end
 */
export function joinAll(given: readonly ToJoin[], rareBelow: number): string[] {
  const groups = new Map<number, number[]>();
  for (const [i, { group }] of given.entries()) {
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [i]);
    else members.push(i);
  }
  const result = new Array<string>(given.length);
  for (const members of groups.values()) {
    const joined = joinGroup(
      members.map(i => given[i]),
      rareBelow,
    );
    for (const [i, member] of members.entries()) result[member] = joined[i];
  }
  return result;
}

function joinGroup(given: readonly ToJoin[], rareBelow: number): string[] {
  const byStructure = new Map<string, Joined[]>();
  const order = Array.from(given, (_, i) => i).sort(
    (a, b) => given[b].lines - given[a].lines || (given[a].key < given[b].key ? -1 : 1),
  );
  for (const i of order) {
    const { key, lines } = given[i];
    const template = parseTemplate(key);
    const alike = byStructure.get(template.structure);
    const one: Joined = { template, lines, members: [i] };
    if (alike === undefined) byStructure.set(template.structure, [one]);
    else if (!joins(alike, one)) alike.push(one);
  }
  const all = [...byStructure.values()].flatMap(alike => settle(alike));
  const result = new Array<string>(given.length);
  for (const { template, members } of joinEnds(all, rareBelow))
    for (const i of members) result[i] = template.key;
  return result;
}

/** Adds `one` to the most similar of those before it, if some is similar enough. */
function joins(alike: readonly Joined[], one: Joined): boolean {
  let best: Joined | undefined;
  let bestEqual = -1;
  for (let i = 0; i < alike.length && i < MAX_JOIN_CANDIDATES; i++) {
    const equal = similarityOf(alike[i], one);
    if (equal > bestEqual) {
      best = alike[i];
      bestEqual = equal;
    }
  }
  if (best === undefined) return false;
  best.template = joinTemplates(best.template, one.template);
  best.lines += one.lines;
  for (const member of one.members) best.members.push(member);
  return true;
}

/** Words that both have, of those that count; -1 where they are not alike. */
function similarityOf({ template: a, lines }: Joined, { template: b, lines: linesOfB }: Joined): number {
  // Of few lines a value may be the same by chance.
  const valuesCount = lines >= FIRM_LINES && linesOfB >= FIRM_LINES;
  let equal = 0;
  let text = 0;
  let ofA = 0;
  let takesB = true;
  for (let i = 0; i < a.words.length; i++) {
    const word = a.words[i];
    if (word !== undefined && word !== b.words[i]) takesB = false;
    ofA += a.isText[i];
    if (a.isText[i] === 0 && b.isText[i] === 0) {
      if (!valuesCount || word === undefined || word !== b.words[i]) continue;
    }
    text++;
    if (word !== undefined && word === b.words[i]) equal++;
  }
  if (takesB && (ofA > 0 || text === 0)) return equal;
  return isSimilar(equal, text) ? equal : -1;
}

/** Templates that became wider may have become alike. */
function settle(alike: Joined[]): Joined[] {
  if (alike.length === 1) return alike;
  const settled: Joined[] = [];
  for (const one of alike.sort((a, b) => b.lines - a.lines)) if (!joins(settled, one)) settled.push(one);
  return settled;
}

function joinEnds(all: readonly Joined[], rareBelow: number): Joined[] {
  const done = all.filter(({ lines }) => lines >= rareBelow);
  let rare = all.filter(({ lines }) => lines < rareBelow);
  for (const number of BEGINNINGS) {
    const groups = new Map<string, Joined[]>();
    const rest: Joined[] = [];
    for (const one of rare) {
      if (!beginsWithText(one.template, number)) {
        rest.push(one);
        continue;
      }
      const key = beginningOf(one.template, number);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [one]);
      else group.push(one);
    }
    for (const [key, group] of groups) {
      if (group.length < MIN_ALIKE) {
        rest.push(...group);
        continue;
      }
      const members = group.flatMap(one => one.members);
      done.push({
        template: parseTemplate(key),
        lines: group.reduce((sum, { lines }) => sum + lines, 0),
        members,
      });
    }
    rare = rest;
  }
  return [...done, ...rare];
}

/** True where there is a word `number`, and one of text before it. */
function beginsWithText({ words, isText }: Template, number: number): boolean {
  if (words.length <= number) return false;
  for (let i = 0; i < number; i++) if (isText[i] === 1) return true;
  return false;
}

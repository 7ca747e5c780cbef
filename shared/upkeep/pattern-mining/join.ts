/**
 * Joins many templates into few: those of chunks and streams with the same kind of event, and rare ones with
 * different ends. Returns only which template represents which. The caller adds up the counts.
 */
import { MAX_JOIN_CANDIDATES } from './bounds.ts';
import { isSimilar } from './similarity.ts';
import { beginningOf, joinTemplates, type LineTemplate, parseLineTemplate } from './template.ts';

/** Minimum number of rare templates with the same first words that become one with an open end. */
const MIN_ALIKE = 3;
/** Numbers of first words to compare, largest first, because a longer common beginning is more specific. */
const BEGINNINGS: readonly number[] = [6, 4, 3, 2, 1];

/** A value that occurs in this number of lines counts like text. */
const FIRM_LINES = 8;

interface JoinedPattern {
  template: LineTemplate;
  lines: number;
  readonly members: number[];
}

interface ToJoin {
  readonly key: string;
  /** Templates of different groups (levels) are never joined. */
  readonly group: number;
  readonly lines: number;
}

/**
 * Returns, for each template, the key of the one that represents it.
 *
 * @param rareBelow templates of fewer lines may become one with an open end
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
  const byStructure = new Map<string, JoinedPattern[]>();
  const order = Array.from(given, (_, i) => i).sort(
    (a, b) => given[b].lines - given[a].lines || (given[a].key < given[b].key ? -1 : 1),
  );
  for (const i of order) {
    const { key, lines } = given[i];
    const template = parseLineTemplate(key);
    const alike = byStructure.get(template.structure);
    const one: JoinedPattern = { template, lines, members: [i] };
    if (alike === undefined) byStructure.set(template.structure, [one]);
    else if (!joins(alike, one)) alike.push(one);
  }
  const all = [...byStructure.values()].flatMap(alike => settle(alike));
  const result = new Array<string>(given.length);
  for (const { template, members } of joinEnds(all, rareBelow))
    for (const i of members) result[i] = template.key;
  return result;
}

/** Adds `one` to the most similar earlier template, if it is similar enough. */
function joins(alike: readonly JoinedPattern[], one: JoinedPattern): boolean {
  let best: JoinedPattern | undefined;
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

/** Number of relevant words that both share; -1 if they are not similar. */
function similarityOf(
  { template: a, lines }: JoinedPattern,
  { template: b, lines: linesOfB }: JoinedPattern,
): number {
  // With few lines, a value may be equal by chance.
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

/** Joins again, because templates that became wider may have become similar. */
function settle(alike: JoinedPattern[]): JoinedPattern[] {
  if (alike.length === 1) return alike;
  const settled: JoinedPattern[] = [];
  for (const one of alike.sort((a, b) => b.lines - a.lines)) if (!joins(settled, one)) settled.push(one);
  return settled;
}

function joinEnds(all: readonly JoinedPattern[], rareBelow: number): JoinedPattern[] {
  const done = all.filter(({ lines }) => lines >= rareBelow);
  let rare = all.filter(({ lines }) => lines < rareBelow);
  for (const number of BEGINNINGS) {
    const groups = new Map<string, JoinedPattern[]>();
    const rest: JoinedPattern[] = [];
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
        template: parseLineTemplate(key),
        lines: group.reduce((sum, { lines }) => sum + lines, 0),
        members,
      });
    }
    rare = rest;
  }
  return [...done, ...rare];
}

/** True if the template has a word `number` and a word of text before it. */
function beginsWithText({ words, isText }: LineTemplate, number: number): boolean {
  if (words.length <= number) return false;
  for (let i = 0; i < number; i++) if (isText[i] === 1) return true;
  return false;
}

/**
 * Reads a *valid* pattern into the syntax tree. re2js decides validity and the members of a character class.
 * Its own tree is not public and has counted repetitions already expanded, so this module reads the
 * structure.
 *
 * Pitfall: the result for an invalid pattern is meaningless, and the call may throw. Call `validateRegex`
 * before or afterward.
 */
import { ALL_BUT_NEWLINE, ALL_CHARS, type CharSet, MAX_CODE_POINT } from './char-set.ts';
import { FOLD_FLAG, parseRe2, Re2Op } from './re2-tree.ts';
import { alternate, concat, EMPTY_NODE, type RegexNode } from './syntax.ts';

export interface ParsedRegex {
  readonly node: RegexNode;
  /** Name of each group; index 0 is the whole match. Names may repeat. */
  readonly groupNames: readonly (string | undefined)[];
  /**
   * Pattern that is closed and has no group names: it can be embedded in another pattern, and matches the
   * same texts.
   */
  readonly nameless: string;
}

interface RegexFlags {
  readonly fold: boolean;
  readonly multiLine: boolean;
  readonly dotNewline: boolean;
  readonly ungreedy: boolean;
}

const PERL_FLAGS: RegexFlags = { fold: false, multiLine: false, dotNewline: false, ungreedy: false };

/** Open parts during reading: one level for each parenthesis. */
interface OpenGroup {
  readonly branches: RegexNode[];
  nodes: RegexNode[];
  /** Flags to restore after the closing parenthesis. */
  readonly flagsAfter: RegexFlags;
  /** Number of the capturing group, 0 for `(?:`. */
  readonly group: number;
}

interface PatternReader {
  readonly pattern: string;
  at: number;
  flags: RegexFlags;
  readonly groupNames: (string | undefined)[];
  /** Text of the pattern up to `copied`, without names. */
  nameless: string;
  copied: number;
}

export function parseRegex(pattern: string): ParsedRegex {
  const reader: PatternReader = {
    pattern,
    at: 0,
    flags: PERL_FLAGS,
    groupNames: [undefined],
    nameless: '',
    copied: 0,
  };
  const outer: OpenGroup = { branches: [], nodes: [], flagsAfter: PERL_FLAGS, group: 0 };
  const levels: OpenGroup[] = [outer];
  let openQuote = false;
  while (reader.at < pattern.length) {
    const level = levels[levels.length - 1];
    const char = pattern[reader.at];
    if (char === '(') {
      const group = openParenthesis(reader);
      if (group !== undefined) levels.push(group);
    } else if (char === ')') {
      reader.at++;
      levels.pop();
      if (levels.length === 0) throw new Error('unexpected )');
      reader.flags = level.flagsAfter;
      const node = close(level);
      const parent = levels[levels.length - 1];
      parent.nodes.push(level.group > 0 ? { type: 'group', index: level.group, node } : node);
    } else if (char === '|') {
      reader.at++;
      level.branches.push(concat(level.nodes));
      level.nodes = [];
    } else if (pattern.startsWith('\\Q', reader.at)) {
      const end = pattern.indexOf('\\E', reader.at + 2);
      openQuote = end < 0;
      for (const quoted of pattern.slice(reader.at + 2, openQuote ? undefined : end)) {
        level.nodes.push(literal(quoted.codePointAt(0)!, reader.flags.fold));
      }
      reader.at = openQuote ? pattern.length : end + 2;
    } else if (!readRepetition(reader, level)) level.nodes.push(readAtom(reader));
  }
  if (levels.length !== 1) throw new Error('missing closing )');
  return {
    node: close(outer),
    groupNames: reader.groupNames,
    nameless: reader.nameless + pattern.slice(reader.copied) + (openQuote ? '\\E' : ''),
  };
}

function close(level: OpenGroup): RegexNode {
  return alternate([...level.branches, concat(level.nodes)]);
}

/**
 * Reads `(`, `(?:`, `(?flags:`, `(?P<name>` or `(?<name>`. Returns undefined for `(?flags)`, which opens no
 * level.
 */
function openParenthesis(reader: PatternReader): OpenGroup | undefined {
  const { pattern, at, flags } = reader;
  const level = (group: number): OpenGroup => ({ branches: [], nodes: [], flagsAfter: flags, group });
  if (pattern[at + 1] !== '?') {
    reader.at++;
    return level(reader.groupNames.push(undefined) - 1);
  }
  const named = /^\(\?P?<([^>]*)>/.exec(pattern.slice(at, at + MAX_NAME_LENGTH));
  if (named !== null) {
    reader.nameless += pattern.slice(reader.copied, at) + '(';
    reader.at += named[0].length;
    reader.copied = reader.at;
    return level(reader.groupNames.push(named[1]) - 1);
  }
  let on = true;
  const changed = { ...flags };
  for (reader.at += 2; reader.at < pattern.length; ) {
    const char = pattern[reader.at++];
    if (char === '-') on = false;
    else if (char === 'i') changed.fold = on;
    else if (char === 'm') changed.multiLine = on;
    else if (char === 's') changed.dotNewline = on;
    else if (char === 'U') changed.ungreedy = on;
    else if (char === ':' || char === ')') {
      reader.flags = changed;
      return char === ':' ? level(0) : undefined;
    } else break;
  }
  throw new Error('invalid flags');
}

/**
 * Maximum length of a group name. Longer names cannot become label names, so such a pattern counts as
 * unreadable.
 */
const MAX_NAME_LENGTH = 1024;

/**
 * Applies `*`, `+`, `?`, `{n}`, `{n,}` or `{n,m}` to the last part. Returns false if no repetition starts at
 * the position.
 */
function readRepetition(reader: PatternReader, level: OpenGroup): boolean {
  const char = reader.pattern[reader.at];
  let min = 0;
  let max = Number.POSITIVE_INFINITY;
  let length = 1;
  if (char === '+') min = 1;
  else if (char === '?') max = 1;
  else if (char === '{') {
    const counted = /^\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/.exec(
      reader.pattern.slice(reader.at, reader.at + 24),
    );
    if (counted === null) return false;
    min = Number(counted[1]);
    if (counted[2] === undefined) max = min;
    else if (counted[3] !== undefined) max = Number(counted[3]);
    length = counted[0].length;
  } else if (char !== '*') return false;
  reader.at += length;
  const lazy = reader.pattern[reader.at] === '?';
  if (lazy) reader.at++;
  const node = level.nodes.pop();
  if (node === undefined) throw new Error('missing argument to repetition operator');
  level.nodes.push({ type: 'repeat', node, min, max, greedy: lazy === reader.flags.ungreedy });
  return true;
}

function readAtom(reader: PatternReader): RegexNode {
  const { pattern, flags } = reader;
  const codePoint = pattern.codePointAt(reader.at)!;
  const char = String.fromCodePoint(codePoint);
  if (char === '\\') return readEscape(reader);
  if (char === '[') {
    const end = endOfClass(pattern, reader.at);
    const text = pattern.slice(reader.at, end);
    reader.at = end;
    return { type: 'chars', set: classOf(text, flags.fold) };
  }
  reader.at += char.length;
  if (char === '^') return { type: 'assertion', kind: flags.multiLine ? 'lineStart' : 'textStart' };
  if (char === '$') return { type: 'assertion', kind: flags.multiLine ? 'lineEnd' : 'textEnd' };
  if (char === '.') return { type: 'chars', set: flags.dotNewline ? ALL_CHARS : ALL_BUT_NEWLINE };
  return literal(codePoint, flags.fold);
}

function readEscape(reader: PatternReader): RegexNode {
  const { pattern, at, flags } = reader;
  reader.at = endOfEscape(pattern, at);
  switch (pattern[at + 1]) {
    case 'A':
      return { type: 'assertion', kind: 'textStart' };
    case 'z':
      return { type: 'assertion', kind: 'textEnd' };
    case 'b':
      return { type: 'assertion', kind: 'wordBoundary' };
    case 'B':
      return { type: 'assertion', kind: 'notWordBoundary' };
    case 'E':
      // Go refuses a lone \E, so only invalid patterns reach this line.
      return EMPTY_NODE;
    default:
      return { type: 'chars', set: classOf(pattern.slice(at, reader.at), flags.fold) };
  }
}

/** Returns the index after the escape that starts at `at`. */
function endOfEscape(pattern: string, at: number): number {
  const next = pattern[at + 1];
  const braced = next === 'p' || next === 'P' || next === 'x';
  if (braced && pattern[at + 2] === '{') {
    const end = pattern.indexOf('}', at);
    if (end < 0) throw new Error('invalid escape');
    return end + 1;
  }
  if (next === 'x') return at + 4;
  if (next === 'p' || next === 'P') return at + 2 + (pattern.codePointAt(at + 2)! > 0xffff ? 2 : 1);
  const octal = /^[0-7]{1,3}/.exec(pattern.slice(at + 1, at + 4));
  return at + 1 + (octal === null ? 1 : octal[0].length);
}

/** Returns the index after the `]` that closes the class opened at `start`. */
function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '^') at++;
  for (let first = true; at < pattern.length; first = false) {
    if (pattern[at] === ']' && !first) return at + 1;
    const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at) : -1;
    if (named >= 0) at = named + 2;
    else if (pattern[at] === '\\') at = endOfEscape(pattern, at);
    else at++;
  }
  throw new Error('missing closing ]');
}

function literal(codePoint: number, fold: boolean): RegexNode {
  return { type: 'chars', set: fold ? foldOf(codePoint) : [codePoint, codePoint] };
}

const lower = (letter: string) => letter.charCodeAt(0);

/** Returns all code points that Go's simple folding treats as the same letter. */
function foldOf(codePoint: number): CharSet {
  const folded = codePoint < 0x80 ? codePoint | 0x20 : codePoint;
  if (codePoint < 0x80) {
    if (folded < lower('a') || folded > lower('z')) return [codePoint, codePoint];
    const both = [folded - 32, folded - 32, folded, folded];
    // LATIN SMALL LETTER LONG S and KELVIN SIGN.
    if (folded === lower('s')) return [...both, 0x17f, 0x17f];
    return folded === lower('k') ? [...both, 0x212a, 0x212a] : both;
  }
  return classOf(`\\x{${codePoint.toString(16)}}`, true);
}

/** Returns the set of one class, escape or character, as re2js reads it. */
function classOf(text: string, fold: boolean): CharSet {
  const { op, flags, runes } = parseRe2(fold ? `(?i)${text}` : text);
  switch (op) {
    case Re2Op.noMatch:
      return [];
    case Re2Op.literal:
      if (runes.length !== 1) break;
      if ((flags & FOLD_FLAG) === 0) return [runes[0], runes[0]];
      return foldByClass(runes[0]);
    case Re2Op.charClass:
      return Array.from(runes);
    case Re2Op.anyButNewline:
      return ALL_BUT_NEWLINE;
    case Re2Op.any:
      return ALL_CHARS;
  }
  throw new Error(`not a character class: ${text}`);
}

/** A second, unrelated member prevents re2js from turning a folded letter back into a literal. */
function foldByClass(codePoint: number): CharSet {
  if (codePoint === MAX_CODE_POINT) return [MAX_CODE_POINT, MAX_CODE_POINT];
  const { runes } = parseRe2(`(?i)[\\x{${codePoint.toString(16)}}\\x{${MAX_CODE_POINT.toString(16)}}]`);
  return Array.from(runes).slice(0, -2);
}

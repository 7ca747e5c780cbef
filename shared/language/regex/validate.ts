/**
 * Decides whether a text is a regular expression of the RE2 dialect (Go syntax, Perl flags) that this program
 * accepts, and says why not in the words that clients of the reference know.
 *
 * re2js is the judge: its parser knows the dialect and, but for small things mended here, Go's messages. What a
 * reader would get wrong: a pattern Go takes may still be refused, because counted repetitions multiply the work
 * of every engine and Go itself only bounds them by memory.
 */
import { RE2JSSyntaxException, RE2Set } from 're2js';
import { type ParsedRegex, parseRegex } from './parse.ts';
import type { RegexNode } from './syntax.ts';

/** UTF-16 units. Dashboards join hundreds of values with `|`; this holds about a thousand pod names. */
export const maxPatternLength = 32_768;

/**
 * How many parts counted repetitions may write out in all: `(a{20}b){30}` has 630. One of Go's largest, {1000},
 * fits; more would let one pattern cost re2js up to 0.1 ms for each character.
 */
export const maxRepeatedParts = 1_000;

/**
 * Throws an `Error` with Go's message where `pattern` is not a regular expression, for instance
 * ``error parsing regexp: missing closing ]: `[` ``, or is over one of the limits above.
 */
export function validateRegex(pattern: string): void {
  readValidRegex(pattern);
}

export interface ValidRegex extends ParsedRegex {
  /** Parts that are there only because counted repetitions are written out. */
  readonly repeatedParts: number;
}

/** Like `validateRegex`, but answers the parsed pattern. */
export function readValidRegex(pattern: string): ValidRegex {
  if (pattern.length > maxPatternLength) {
    throw tooLarge(`${pattern.length} characters, the limit is ${maxPatternLength}`);
  }
  if (!pattern.isWellFormed()) {
    throw new Error(`error parsing regexp: invalid UTF-8: \`${pattern.toWellFormed()}\``);
  }
  const read = tryRead(pattern);
  // Before the judge, which writes repetitions out; but Go's own limit on counts has its own words.
  const parts = read === undefined ? 0 : read.repeatedParts;
  const isOver = parts > maxRepeatedParts;
  if (isOver && read!.highestCount <= goMaxCount) throw tooManyParts(parts);
  judge(pattern, read?.parsed);
  if (isOver) throw tooManyParts(parts);
  return { ...(read?.parsed ?? parseRegex(pattern)), repeatedParts: parts };
}

/** Go refuses `{1001}` and nested counts whose product is higher. */
const goMaxCount = 1_000;

interface ReadPattern {
  readonly parsed: ParsedRegex;
  readonly repeatedParts: number;
  readonly highestCount: number;
}

function tryRead(pattern: string): ReadPattern | undefined {
  try {
    const parsed = parseRegex(pattern);
    return {
      parsed,
      repeatedParts: writtenOut(parsed.node, true) - writtenOut(parsed.node, false),
      highestCount: highestCount(parsed.node),
    };
  } catch {
    // Invalid, or nested deeper than the stack: the judge finds the words.
    return undefined;
  }
}

function judge(pattern: string, parsed: ParsedRegex | undefined): void {
  try {
    new RE2Set().add(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    // Go allows a name twice, re2js does not.
    if (error.error === 'duplicate capture group name' && parsed !== undefined) {
      judge(parsed.nameless, undefined);
      return;
    }
    // Go always quotes the offending part; re2js leaves it out where it is empty or the whole pattern.
    const whole = error.error === 'expression nests too deeply' || error.error === 'expression too large';
    const part = error.input ?? (whole ? pattern : '');
    throw new Error(`error parsing regexp: ${error.error}: \`${part}\``, { cause: error });
  }
}

function tooManyParts(parts: number): Error {
  return tooLarge(`counted repetitions make ${parts} parts, the limit is ${maxRepeatedParts}`);
}

function tooLarge(detail: string): Error {
  return new Error(`error parsing regexp: expression too large: ${detail}`);
}

/** How many parts the pattern has, with counted repetitions written out or taken as one. */
function writtenOut(node: RegexNode, withCounts: boolean): number {
  switch (node.type) {
    case 'group':
      return writtenOut(node.node, withCounts);
    case 'repeat':
      return writtenOut(node.node, withCounts) * (withCounts ? Math.max(1, countOf(node.min, node.max)) : 1);
    case 'concat':
    case 'alternate':
      return node.nodes.reduce((total, part) => total + writtenOut(part, withCounts), 0);
    default:
      return 1;
  }
}

/** The highest product of nested counts. */
function highestCount(node: RegexNode): number {
  switch (node.type) {
    case 'group':
      return highestCount(node.node);
    case 'repeat':
      return highestCount(node.node) * Math.max(1, countOf(node.min, node.max));
    case 'concat':
    case 'alternate':
      return node.nodes.reduce((highest, part) => Math.max(highest, highestCount(part)), 1);
    default:
      return 1;
  }
}

function countOf(min: number, max: number): number {
  return max === Number.POSITIVE_INFINITY ? min : max;
}

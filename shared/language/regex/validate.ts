/**
 * Decides whether a text is a regular expression of the RE2 dialect (Go syntax, Perl flags) that this program
 * accepts. Error messages are those of the reference.
 *
 * re2js decides: its parser implements the dialect and, except for small differences fixed in this module,
 * Go's messages.
 *
 * Pitfall: a pattern that Go accepts may be refused. Counted repetitions multiply the work of every engine,
 * and Go bounds them only by memory.
 */
import { RE2JSSyntaxException, RE2Set } from 're2js';
import { type ParsedRegex, parseRegex } from './parse.ts';
import type { RegexNode } from './syntax.ts';

/**
 * Maximum length in UTF-16 units. Dashboards join hundreds of values with `|`; this limit fits about a
 * thousand pod names.
 */
export const MAX_PATTERN_LENGTH = 32_768;

/**
 * Maximum number of parts to which counted repetitions may expand: `(a{20}b){30}` has 630. One {1000}, the
 * maximum in Go, fits. With more, one pattern could cost re2js up to 0.1 ms per character.
 */
export const MAX_REPEATED_PARTS = 1_000;

/**
 * Throws an `Error` with Go's message if `pattern` is not a regular expression, or if it exceeds a limit
 * above. An example is ``error parsing regexp: missing closing ]: `[` ``.
 */
export function validateRegex(pattern: string): void {
  readValidRegex(pattern);
}

interface ValidRegex extends ParsedRegex {
  /** Number of parts that exist only because counted repetitions are expanded. */
  readonly repeatedParts: number;
}

/** Validates as `validateRegex`, and returns the parsed pattern. */
export function readValidRegex(pattern: string): ValidRegex {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw tooLarge(`${pattern.length} characters, the limit is ${MAX_PATTERN_LENGTH}`);
  }
  if (!pattern.isWellFormed()) {
    throw new Error(`error parsing regexp: invalid UTF-8: \`${pattern.toWellFormed()}\``);
  }
  const read = tryRead(pattern);
  // Check before re2js, which expands repetitions. Go's limit on counts has a separate message.
  const parts = read === undefined ? 0 : read.repeatedParts;
  const isOver = parts > MAX_REPEATED_PARTS;
  if (isOver && read!.highestCount <= GO_MAX_COUNT) throw tooManyParts(parts);
  judge(pattern, read?.parsed);
  if (isOver) throw tooManyParts(parts);
  return { ...(read?.parsed ?? parseRegex(pattern)), repeatedParts: parts };
}

/** Maximum count in Go, which also limits the product of nested counts. */
const GO_MAX_COUNT = 1_000;

interface MeasuredPattern {
  readonly parsed: ParsedRegex;
  readonly repeatedParts: number;
  readonly highestCount: number;
}

function tryRead(pattern: string): MeasuredPattern | undefined {
  try {
    const parsed = parseRegex(pattern);
    return {
      parsed,
      repeatedParts: writtenOut(parsed.node, true) - writtenOut(parsed.node, false),
      highestCount: highestCount(parsed.node),
    };
  } catch {
    // The pattern is invalid, or nested deeper than the stack: re2js provides the message.
    return undefined;
  }
}

function judge(pattern: string, parsed: ParsedRegex | undefined): void {
  try {
    new RE2Set().add(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    // Go allows repeated names, re2js does not.
    if (error.error === 'duplicate capture group name' && parsed !== undefined) {
      judge(parsed.nameless, undefined);
      return;
    }
    // Go always quotes the offending part; re2js omits it if it is empty or the whole pattern.
    const whole = error.error === 'expression nests too deeply' || error.error === 'expression too large';
    const part = error.input ?? (whole ? pattern : '');
    throw new Error(`error parsing regexp: ${error.error}: \`${part}\``, { cause: error });
  }
}

function tooManyParts(parts: number): Error {
  return tooLarge(`counted repetitions make ${parts} parts, the limit is ${MAX_REPEATED_PARTS}`);
}

function tooLarge(detail: string): Error {
  return new Error(`error parsing regexp: expression too large: ${detail}`);
}

/** Counts the parts of the pattern, with counted repetitions expanded or counted once. */
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

/** Returns the highest product of nested counts. */
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

/**
 * Regular expressions of the RE2 dialect, compiled for logs. They give the same results as Go's regexp
 * package, are fast on short lines, and no pattern can stall the process.
 *
 *     const regex = compileRegex('(?i)error.*(?P<code>\\d+)');
 *     regex.test('Error 42');            // true
 *     regex.exec('Error 42');            // ['Error 42', '42']
 *
 * Texts may contain bytes that are not UTF-8 (byte-text.ts). A pattern sees each of them as U+FFFD; groups
 * and replacements preserve them.
 *
 * A pattern has up to three engines, because the uses allow different simplifications. A test allows more
 * than a search for groups, and a search for all matches allows less than one for the first.
 */
import type { RE2JS } from 're2js';
import { decodeText } from './decode.ts';
import {
  chooseEngine,
  compileRe2,
  countMatches,
  type Engine,
  type Finder,
  finderWithRe2,
  finderWithV8,
  firstGroupsWithRe2,
  MAX_V8_UNITS,
  replaceMatches,
  tooMuchWork,
  withRereadLimit,
} from './engine.ts';
import { finiteMatches, type RequiredLiteral, requiredLiteralOf } from './literals.ts';
import { type PageScan, planPageScan } from './page-scan.ts';
import { parseRegex } from './parse.ts';
import { forFirstMatch, forTest } from './simplify.ts';
import { concat, partsOf, type RegexNode, withoutGroups } from './syntax.ts';
import { expandTemplate, parseReplacement, type ReplacementTemplate } from './template.ts';
import { readValidRegex } from './validate.ts';

export type { RequiredLiteral } from './literals.ts';
export { validateRegex } from './validate.ts';

interface RegexOptions {
  /** Whether the pattern must match the whole text: `^(?:RE)$`. */
  readonly anchored?: boolean;
  /** Whether `.` also matches a newline: `(?s:RE)`, as in selectors. */
  readonly dotMatchesNewline?: boolean;
}

export interface Regex {
  /** Pattern as passed to the compiler, without the anchors of the options. */
  readonly source: string;
  /** Name of each group; index 0 is the whole match. Go allows repeated names. */
  readonly groupNames: readonly (string | undefined)[];
  /** All matching texts, if the pattern is anchored and they are few. */
  readonly setMatches: readonly string[] | undefined;
  /** Common prefix of all matches of an anchored pattern; empty if unknown. */
  readonly prefix: string;
  /** Literal that every matching text contains. */
  readonly requiredLiteral: RequiredLiteral | undefined;
  /**
   * Plan to search many lines together, used by `search.ts`. Undefined if only a line-by-line search works.
   */
  readonly pageScan: PageScan | undefined;
  /** Whether lines may run on re2js with enough counted repetitions that a character takes up to 0.1 ms. */
  readonly isSlow: boolean;
  test(text: string): boolean;
  /** Tests bytes; each invalid byte counts as U+FFFD. */
  testBytes(buffer: Buffer, start: number, end: number): boolean;
  /**
   * Returns the groups of the first match, index 0 the whole; undefined for a group that did not participate.
   */
  exec(text: string): readonly (string | undefined)[] | undefined;
  /** Replaces every match by the template (`$1`, `${name}`), or by the text itself with `literal`. */
  replaceAll(text: string, template: string, literal?: boolean): string;
  /** Returns the number of non-overlapping matches. */
  count(text: string): number;
}

/** Compiles a pattern. Throws as `validateRegex` does. */
export function compileRegex(pattern: string, options: RegexOptions = {}): Regex {
  return new CompiledRegex(pattern, options);
}

/** Returns the longest literal that every text matching the (valid) pattern contains. */
export function requiredLiteral(pattern: string): RequiredLiteral | undefined {
  return requiredLiteralOf(forTest(readValidRegex(pattern).node));
}

/** Compiled forms of a pattern. The rarer ones are created on first use. */
class CompiledRegex implements Regex {
  readonly source: string;
  readonly groupNames: readonly (string | undefined)[];
  readonly setMatches: readonly string[] | undefined;
  readonly prefix: string;
  readonly #node: RegexNode;
  readonly #testNode: RegexNode;
  readonly #re2Source: string;
  readonly #repeatedParts: number;
  readonly #testEngine: Engine;
  readonly #set: ReadonlySet<string> | undefined;
  #execEngine: Engine | undefined;
  #allEngine: Engine | undefined;
  #re2: RE2JS | undefined;
  #pageScan: PageScan | undefined | null = null;
  #template: { readonly source: string; readonly parsed: ReplacementTemplate } | undefined;

  constructor(pattern: string, { anchored = false, dotMatchesNewline = false }: RegexOptions) {
    const given = readValidRegex(pattern);
    const inner = dotMatchesNewline ? `(?s:${given.nameless})` : given.nameless;
    const { node } = dotMatchesNewline ? parseRegex(inner) : given;
    this.source = pattern;
    this.groupNames = given.groupNames;
    this.#repeatedParts = given.repeatedParts;
    this.#node = anchored ? concat([TEXT_START, node, TEXT_END]) : node;
    this.#testNode = forTest(this.#node);
    this.#re2Source = anchored ? `^(?:${inner})$` : inner;
    this.#testEngine = chooseEngine(this.#testNode, 'u');
    this.setMatches = anchored ? finiteMatches(node) : undefined;
    this.#set = this.setMatches === undefined ? undefined : new Set(this.setMatches);
    this.prefix = anchored ? literalPrefix(withoutGroups(node)) : '';
  }

  get requiredLiteral(): RequiredLiteral | undefined {
    return requiredLiteralOf(this.#testNode);
  }

  get pageScan(): PageScan | undefined {
    if (this.#pageScan === null) this.#pageScan = planPageScan(this.#testNode);
    return this.#pageScan;
  }

  get isSlow(): boolean {
    return this.#repeatedParts > MAX_QUICK_PARTS && this.#testEngine.maxV8Units < MAX_V8_UNITS;
  }

  test(text: string): boolean {
    if (this.#set !== undefined) return this.#set.has(text);
    return this.#testDecoded(text.toWellFormed());
  }

  testBytes(buffer: Buffer, start: number, end: number): boolean {
    const text = decodeText(buffer, start, end);
    return this.#set === undefined ? this.#testDecoded(text) : this.#set.has(text);
  }

  #testDecoded(text: string): boolean {
    const { v8, maxV8Units } = this.#testEngine;
    return text.length <= maxV8Units ? v8!.test(text) : this.#linear(text).test(text);
  }

  exec(text: string): readonly (string | undefined)[] | undefined {
    this.#execEngine ??= chooseEngine(forFirstMatch(this.#node), 'u');
    const { v8, maxV8Units } = this.#execEngine;
    // Only re2js reports the offsets of groups, which are needed to cut them from a text with escapes.
    if (text.length > maxV8Units || !text.isWellFormed()) return firstGroupsWithRe2(this.#linear(text), text);
    return v8!.exec(text) ?? undefined;
  }

  replaceAll(text: string, template: string, literal = false): string {
    if (literal) return replaceMatches(this.#finder(text), text, () => template);
    if (this.#template?.source !== template)
      this.#template = { source: template, parsed: parseReplacement(template) };
    const { parsed } = this.#template;
    return replaceMatches(this.#finder(text), text, groups =>
      expandTemplate(parsed, this.groupNames, groups),
    );
  }

  count(text: string): number {
    return countMatches(this.#finder(text), text);
  }

  #finder(text: string): Finder {
    this.#allEngine ??= chooseEngine(this.#node, 'gu');
    const { v8, maxV8Units, linear } = this.#allEngine;
    if (text.length <= maxV8Units && text.isWellFormed()) return finderWithV8(v8!, text);
    const finder = finderWithRe2(this.#linear(text), text);
    return linear ? finder : withRereadLimit(finder, text);
  }

  /**
   * Returns re2js for this text. Its time is linear in the text length, but also in the expanded size of
   * counted repetitions.
   */
  #linear(text: string): RE2JS {
    if (this.#repeatedParts * text.length > MAX_COUNTED_WORK) throw tooMuchWork(text);
    return (this.#re2 ??= compileRe2(this.#re2Source));
  }
}

/**
 * Maximum of parts times characters. At up to 0.1 µs each, the limit takes some seconds. `a{1000}` reaches it
 * on a line of 67,000 characters.
 */
const MAX_COUNTED_WORK = 2 ** 26;

/** Number of parts up to which a line of 1,000 characters takes re2js at most 2 ms. */
const MAX_QUICK_PARTS = 20;

const TEXT_START: RegexNode = { type: 'assertion', kind: 'textStart' };
const TEXT_END: RegexNode = { type: 'assertion', kind: 'textEnd' };

function literalPrefix(node: RegexNode): string {
  let prefix = '';
  for (const part of partsOf(node)) {
    if (part.type !== 'chars' || part.set.length !== 2 || part.set[0] !== part.set[1]) break;
    prefix += String.fromCodePoint(part.set[0]);
  }
  return prefix;
}

/**
 * Regular expressions that the reference replaces by tests for texts (docs/dev/logql-semantics.md#plain-texts). Two things depend on it:
 * what an empty alternative means in a line filter, and how `format_query` quotes an expression.
 *
 *     lineAlternatives('error|')      // [{ pattern: 'error' }]: the empty alternative is dropped
 *     lineAlternatives('a|b|')        // [{ pattern: 'a|b|' }]: a class and an empty alternative, which stays
 *     lineAlternatives('|.*')         // []: every line
 *
 * Logboom drops alternatives as the reference does, and evaluates the others as written. The reference loses lines in
 * a few shapes more: to it `foo.*(bar|qux)` is `foobar` or `fooqux` (difference D1).
 */
import { foldFlag, parseRe2, type Re2Node, Re2Op } from './re2-tree.ts';
import { readValidRegex } from './validate.ts';

/** One alternative of a line filter: a regular expression, or a text whose bytes are searched for. */
export type LineAlternative = { readonly pattern: string } | { readonly text: string };

/**
 * Alternatives of an expression in a line filter, of which one must accept the line. None: every line passes. Throws like
 * `validateRegex`.
 */
export function lineAlternatives(pattern: string): readonly LineAlternative[] {
  const root = rootOf(pattern);
  if (!isText(root)) return [{ pattern }];
  const branches = branchesOf(root);
  const kept = branches.filter(branch => !acceptsAll(branch));
  const isAsWritten =
    kept.length === branches.length && !kept.some(branch => isAnyByte(branch) || isRaw(branch));
  if (isAsWritten) return [{ pattern }];
  const texts = kept.filter(isRaw).map(branch => ({ text: textOf(literalOf(branch)!) }));
  const rest = kept.filter(branch => !isRaw(branch));
  return rest.length === 0 ? texts : [...texts, { pattern: joined(rest) }];
}

/** The flag once where it can be: thousands of names must not grow past the limit on patterns. */
function joined(branches: readonly Re2Node[]): string {
  const literals = branches.flatMap(literalsOf);
  const folds = literals.length > 0 && literals.every(ignoresCase);
  const text = branches.map(branch => patternOf(branch, folds)).join('|');
  return folds ? `(?i:${text})` : text;
}

function literalsOf(node: Re2Node): Re2Node[] {
  return node.op === Re2Op.literal ? [node] : node.subs.flatMap(literalsOf);
}

/** True if the reference tests for text instead of running the expression. Throws like `validateRegex`. */
export function isTextRegex(pattern: string): boolean {
  return isText(rootOf(pattern));
}

/** Without names: Go allows one twice, re2js does not. */
function rootOf(pattern: string): Re2Node {
  return parseRe2(readValidRegex(pattern).nameless);
}

function isText(node: Re2Node): boolean {
  switch (node.op) {
    case Re2Op.literal:
    case Re2Op.empty:
      return true;
    case Re2Op.star:
      return isAnyButNewline(node.subs[0]);
    case Re2Op.plus:
      return isAnyButNewline(node.subs[0]);
    case Re2Op.capture:
      return isText(node.subs[0]);
    case Re2Op.alternate:
      return node.subs.every(isText);
    case Re2Op.concat:
      return isTextConcat(node, false);
    default:
      return false;
  }
}

/** At most three parts: one literal, `.*`, and behind the literal alternatives of the same kind. */
function isTextConcat({ subs }: Re2Node, followsLiteral: boolean): boolean {
  const parts = subs.map(withoutCapture).filter(part => part.op !== Re2Op.empty);
  if (parts.length > 3) return false;
  let literal: Re2Node | undefined;
  for (const part of parts) {
    if (part.op === Re2Op.literal) {
      if (literal !== undefined) return false;
      literal = part;
    } else if (part.op === Re2Op.alternate && (followsLiteral || literal !== undefined)) {
      const folds = literal !== undefined && ignoresCase(literal);
      if (!part.subs.every(sub => isTextSuffix(sub, folds))) return false;
    } else if (!isStar(part)) return false;
  }
  return followsLiteral || literal !== undefined;
}

/** An alternative behind a literal. One that ignores case cannot join a literal that does not. */
function isTextSuffix(node: Re2Node, literalFolds: boolean): boolean {
  if (!literalFolds && ignoresCase(node)) return false;
  if (node.op === Re2Op.concat) return isTextConcat(node, true);
  return node.op === Re2Op.empty || node.op === Re2Op.literal || isStar(node);
}

/** The reference drops captures of one level; of deeper ones it makes no text. */
function withoutCapture(node: Re2Node): Re2Node {
  return node.op === Re2Op.capture ? node.subs[0] : node;
}

function isStar(node: Re2Node): boolean {
  return node.op === Re2Op.star && isAnyButNewline(node.subs[0]);
}

/** A `.`: re2js also writes `[^\n]` so, which Go does not, but without the flags of the parser. */
function isAnyButNewline({ op, flags }: Re2Node): boolean {
  return op === Re2Op.anyButNewline && flags !== 0;
}

function ignoresCase({ flags }: Re2Node): boolean {
  return (flags & foldFlag) !== 0;
}

function branchesOf(node: Re2Node): Re2Node[] {
  if (node.op === Re2Op.capture) return branchesOf(node.subs[0]);
  return node.op === Re2Op.alternate ? node.subs.flatMap(branchesOf) : [node];
}

function acceptsAll(branch: Re2Node): boolean {
  return branch.op === Re2Op.empty || branch.op === Re2Op.star;
}

/** `.+`: at least one byte of any kind, also a lone newline. */
function isAnyByte(branch: Re2Node): boolean {
  return branch.op === Re2Op.plus;
}

/**
 * A text with U+FFFD, perhaps among `.*`: as an expression that character also matches bytes that are not UTF-8, as a text
 * it does not.
 */
function isRaw(branch: Re2Node): boolean {
  const literal = literalOf(branch);
  return literal !== undefined && Array.from(literal.runes).includes(0xfffd) && !isCased(literal);
}

function literalOf(branch: Re2Node): Re2Node | undefined {
  if (branch.op === Re2Op.literal) return branch;
  if (branch.op !== Re2Op.concat) return undefined;
  const parts = branch.subs.map(withoutCapture).filter(part => part.op !== Re2Op.empty && !isStar(part));
  return parts.length === 1 && parts[0].op === Re2Op.literal ? parts[0] : undefined;
}

function isCased(literal: Re2Node): boolean {
  const text = textOf(literal);
  return ignoresCase(literal) && text.toLowerCase() !== text.toUpperCase();
}

function textOf({ runes }: Re2Node): string {
  return String.fromCodePoint(...Array.from(runes));
}

const SPECIAL = /[\\.+*?()|[\]{}^$]/g;

/** The expression of a branch, to stand beside others. `folds` is true if case is ignored around it. */
function patternOf(node: Re2Node, folds: boolean): string {
  switch (node.op) {
    case Re2Op.literal: {
      const text = textOf(node).replace(SPECIAL, '\\$&');
      return ignoresCase(node) && !folds ? `(?i:${text})` : text;
    }
    case Re2Op.plus:
      return '(?s:.+)';
    case Re2Op.star:
      return '.*';
    case Re2Op.capture:
      return patternOf(node.subs[0], folds);
    case Re2Op.concat:
      return node.subs.map(sub => patternOf(sub, folds)).join('');
    case Re2Op.alternate:
      return `(?:${node.subs.map(sub => patternOf(sub, folds)).join('|')})`;
    default:
      return '(?:)';
  }
}

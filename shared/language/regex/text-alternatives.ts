/**
 * Finds regular expressions that the reference replaces by text comparisons (docs/dev/logql-semantics.md#plain-texts). This
 * affects the meaning of an empty alternative in a line filter, and how `format_query` quotes an expression.
 *
 *     lineAlternatives('error|')      // [{ pattern: 'error' }]: the empty alternative is dropped
 *     lineAlternatives('a|b|')        // [{ pattern: 'a|b|' }]: a class and an empty alternative, which is preserved
 *     lineAlternatives('|.*')         // []: every line
 *
 * Logboom drops alternatives as the reference does, and evaluates the others as written. The reference loses
 * lines in a few more shapes: it treats `foo.*(bar|qux)` as `foobar` or `fooqux` (difference D1).
 */
import { FOLD_FLAG, parseRe2, type Re2Node, Re2Op } from './re2-tree.ts';
import { readValidRegex } from './validate.ts';

/** Alternative of a line filter: a regular expression, or a text to find as bytes. */
export type LineAlternative = { readonly pattern: string } | { readonly text: string };

/**
 * Returns the alternatives of an expression in a line filter; one of them must accept the line. An empty list
 * accepts every line. Throws as `validateRegex` does.
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

/** Write the flag once if possible, so that thousands of names do not exceed the pattern limit. */
function joined(branches: readonly Re2Node[]): string {
  const literals = branches.flatMap(literalsOf);
  const folds = literals.length > 0 && literals.every(ignoresCase);
  const text = branches.map(branch => patternOf(branch, folds)).join('|');
  return folds ? `(?i:${text})` : text;
}

function literalsOf(node: Re2Node): Re2Node[] {
  return node.op === Re2Op.literal ? [node] : node.subs.flatMap(literalsOf);
}

/**
 * Returns whether the reference compares text instead of running the expression. Throws as `validateRegex`
 * does.
 */
export function isTextRegex(pattern: string): boolean {
  return isText(rootOf(pattern));
}

/** Names are removed: Go allows repeated names, re2js does not. */
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

/** Matches at most three parts: one literal, `.*`, and after the literal alternatives of the same kind. */
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

/**
 * Checks an alternative after a literal. An alternative that ignores case cannot join a literal that does
 * not.
 */
function isTextSuffix(node: Re2Node, literalFolds: boolean): boolean {
  if (!literalFolds && ignoresCase(node)) return false;
  if (node.op === Re2Op.concat) return isTextConcat(node, true);
  return node.op === Re2Op.empty || node.op === Re2Op.literal || isStar(node);
}

/** The reference drops one level of captures; it does not convert deeper ones to text. */
function withoutCapture(node: Re2Node): Re2Node {
  return node.op === Re2Op.capture ? node.subs[0] : node;
}

function isStar(node: Re2Node): boolean {
  return node.op === Re2Op.star && isAnyButNewline(node.subs[0]);
}

/**
 * Matches `.`. re2js also represents `[^\n]` in this way, which Go does not, but without the flags of the
 * parser.
 */
function isAnyButNewline({ op, flags }: Re2Node): boolean {
  return op === Re2Op.anyButNewline && flags !== 0;
}

function ignoresCase({ flags }: Re2Node): boolean {
  return (flags & FOLD_FLAG) !== 0;
}

function branchesOf(node: Re2Node): Re2Node[] {
  if (node.op === Re2Op.capture) return branchesOf(node.subs[0]);
  return node.op === Re2Op.alternate ? node.subs.flatMap(branchesOf) : [node];
}

function acceptsAll(branch: Re2Node): boolean {
  return branch.op === Re2Op.empty || branch.op === Re2Op.star;
}

/** Matches `.+`: at least one byte of any kind, also a lone newline. */
function isAnyByte(branch: Re2Node): boolean {
  return branch.op === Re2Op.plus;
}

/**
 * Matches a text with U+FFFD, perhaps among `.*`. As an expression, that character also matches bytes that
 * are not UTF-8; as a text, it does not.
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

/**
 * Writes the expression of a branch, to be joined with others. `folds` is true if the joined expression
 * ignores case.
 */
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

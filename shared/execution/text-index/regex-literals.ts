/**
 * Derives a pruning predicate from a regular expression: its literals, as a tree of needles.
 * `timeout|(dead|live)lock` requires `timeout` or `deadlock` or `livelock`; `user=\d+ failed` requires both
 * `user=` and ` failed`.
 *
 * Pitfall: the expression reads a line as text, in which an invalid byte is U+FFFD, so a set with that
 * character has no bytes. Case folding maps `K` to KELVIN SIGN, which is not an ASCII byte either
 * (literal-text.ts).
 */

import { partsOf, type RegexNode, withoutGroups } from '../../language/regex/syntax.ts';
import { readValidRegex } from '../../language/regex/validate.ts';
import { PageFlag } from './filter-layout.ts';
import { EMPTY_TEXT, joinTexts, type LiteralText, textsOfSet } from './literal-text.ts';
import {
  ANYTHING,
  allOf,
  anyOf,
  containing,
  countNeedles,
  type PruningPredicate,
} from './pruning-predicate.ts';

/** Maximum spellings of one part; with more, it is split in two parts that are looked up separately. */
const MAX_TEXTS = 16;
/**
 * Maximum needles of one expression. Dashboards join dozens of names with `|`, and each needle costs a few
 * small reads.
 */
const MAX_NEEDLES = 64;
/** Maximum bytes of one part; only the start of a longer needle is looked up. */
const MAX_TEXT_LENGTH = 256;
/** Maximum copies of a counted part that are expanded. */
const MAX_COPIES = 8;

/** Returns the predicate. Throws as `validateRegex` does for an invalid pattern. */
export function regexPredicate(pattern: string): PruningPredicate {
  return limited(predicateOf(summaryOf(withoutGroups(readValidRegex(pattern).node), new Map())));
}

/** Either all texts that the node matches, or the predicate of its matches. */
type MatchSummary =
  | { readonly texts: readonly LiteralText[] }
  | { readonly texts?: undefined; readonly needs: PruningPredicate };

/** Cache by node: nested repetitions would otherwise double the work at every level. */
type Summaries = Map<RegexNode, MatchSummary>;

const UNKNOWN: MatchSummary = { needs: ANYTHING };

function predicateOf(summary: MatchSummary): PruningPredicate {
  return summary.texts === undefined ? summary.needs : anyText(summary.texts);
}

/** Requires one of the texts. An empty list matches no text; `anything` is also correct for it. */
function anyText(texts: readonly LiteralText[]): PruningPredicate {
  return anyOf(
    texts.map(({ text, wideFold }) => containing(Buffer.from(text), wideFold ? PageFlag.wideFold : 0)),
  );
}

function summaryOf(node: RegexNode, known: Summaries): MatchSummary {
  const found = known.get(node);
  if (found !== undefined) return found;
  const summary = sumUp(node, known);
  known.set(node, summary);
  return summary;
}

function sumUp(node: RegexNode, known: Summaries): MatchSummary {
  switch (node.type) {
    case 'empty':
    case 'assertion':
      return { texts: [EMPTY_TEXT] };
    case 'chars': {
      const texts = textsOfSet(node.set);
      return texts === undefined ? UNKNOWN : { texts };
    }
    case 'group':
      return summaryOf(node.node, known);
    case 'concat':
      return concatSummary(node.nodes.flatMap(writtenOut), known);
    case 'repeat':
      return concatSummary(writtenOut(node), known);
    case 'alternate':
      return alternateSummary(node.nodes.map(branch => summaryOf(branch, known)));
  }
}

/** Part of a concatenation: a node, or a gap that matches any text. */
type ConcatenationPart = RegexNode | 'gap';

/**
 * Expands `x{3}` to three parts, and `x+` to one, a gap, and one again: each match contains them in this
 * order.
 */
function writtenOut(node: RegexNode): ConcatenationPart[] {
  if (node.type !== 'repeat') return node.type === 'concat' ? [...node.nodes] : [node];
  const { min, max } = node;
  if (min === 0 && max === 1) return [{ type: 'alternate', nodes: [{ type: 'empty' }, node.node] }];
  if (min === 0) return ['gap'];
  const parts = partsOf(node.node);
  const copies = Array.from({ length: Math.min(min, MAX_COPIES) }, () => parts).flat();
  if (min === max && min <= MAX_COPIES) return copies;
  return [...copies, 'gap', ...parts];
}

function concatSummary(parts: readonly ConcatenationPart[], known: Summaries): MatchSummary {
  let texts: readonly LiteralText[] = [EMPTY_TEXT];
  let whole = true;
  const needs: PruningPredicate[] = [];
  const close = () => {
    needs.push(anyText(texts));
    texts = [EMPTY_TEXT];
    whole = false;
  };
  for (const part of parts) {
    const summary = part === 'gap' ? UNKNOWN : summaryOf(part, known);
    if (summary.texts === undefined) {
      close();
      needs.push(summary.needs);
      continue;
    }
    if (!fits(texts, summary.texts)) close();
    texts = fits(texts, summary.texts) ? joinTexts(texts, summary.texts) : summary.texts;
  }
  if (whole) return { texts };
  close();
  return { needs: limited(allOf(needs)) };
}

function fits(heads: readonly LiteralText[], tails: readonly LiteralText[]): boolean {
  if (heads.length * tails.length > MAX_TEXTS) return false;
  const longest = (texts: readonly LiteralText[]) => Math.max(0, ...texts.map(({ text }) => text.length));
  return longest(heads) + longest(tails) <= MAX_TEXT_LENGTH;
}

function alternateSummary(branches: readonly MatchSummary[]): MatchSummary {
  const texts: LiteralText[] = [];
  for (const branch of branches) {
    if (branch.texts === undefined) return { needs: limited(anyOf(branches.map(predicateOf))) };
    texts.push(...branch.texts);
  }
  return texts.length <= MAX_TEXTS ? { texts } : { needs: limited(anyOf(branches.map(predicateOf))) };
}

/**
 * Limits the number of needles. An `or` of too many needles becomes `anything`; an `and` uses those that fit.
 */
function limited(predicate: PruningPredicate): PruningPredicate {
  if (countNeedles(predicate) <= MAX_NEEDLES) return predicate;
  if (predicate.kind !== 'all') return ANYTHING;
  const kept: PruningPredicate[] = [];
  let needles = 0;
  for (const part of predicate.of) {
    const more = countNeedles(part);
    if (needles + more > MAX_NEEDLES) continue;
    kept.push(part);
    needles += more;
  }
  return allOf(kept);
}

/**
 * Derives pruning predicates from the stages of a query: what a page must contain if an entry passes them.
 * The predicates have two parts: contents of lines required by line filters, and values of labels required by
 * label filters. Line filters count if they precede the first change of the line. Label filters count while
 * only parsers have changed labels. All other stages before them only drop entries or set other labels.
 *
 * Pitfall: after a changed line, later line filters and parsers say nothing about the stored line. Filters on
 * labels that were parsed before the change still count.
 */
import type { LineFilterStage, Stage } from '../../language/logql/ast.ts';
import { type LineTestSource, lineTestsOf } from '../pipeline/line-tests.ts';
import { parsePattern } from '../pipeline/pattern-syntax.ts';
import { type ChunkLabelSummary, labelPredicate, NO_LABEL_SUMMARY } from './label-predicate.ts';
import { LINE_SOURCE, type ParsedSource, sourceOfParser } from './parsed-sources.ts';
import { ANYTHING, allOf, anyOf, containing, type PruningPredicate } from './pruning-predicate.ts';
import { regexPredicate } from './regex-literals.ts';

/**
 * Returns the predicate of the line filters. Throws an Error with Go's message for an invalid regular
 * expression.
 */
export function linePredicate(stages: readonly Stage[]): PruningPredicate {
  const parts: PruningPredicate[] = [];
  for (const stage of stages) {
    if (stage.kind === 'lineFilter') parts.push(lineFilterPredicate(stage));
    else if (changesLine(stage)) break;
  }
  return allOf(parts);
}

/** Returns the filters on lines as stored. */
export function storedLineFilters(stages: readonly Stage[]): LineFilterStage[] {
  const filters: LineFilterStage[] = [];
  for (const stage of stages) {
    if (stage.kind === 'lineFilter') filters.push(stage);
    else if (changesLine(stage)) break;
  }
  return filters;
}

/** Returns the predicate of the label filters. */
export function labelsPredicate(
  stages: readonly Stage[],
  summary: ChunkLabelSummary = NO_LABEL_SUMMARY,
): PruningPredicate {
  const parts: PruningPredicate[] = [];
  const sources: ParsedSource[] = [];
  let lineIsStored = true;
  for (const stage of stages) {
    switch (stage.kind) {
      case 'lineFilter':
        break;
      case 'labelFilter':
        parts.push(labelPredicate(stage.filter, sources, summary));
        break;
      case 'json':
      case 'logfmt':
        if (!lineIsStored) return allOf(parts);
        sources.push(sourceOfParser(stage));
        break;
      case 'regexp':
      case 'pattern':
        if (!lineIsStored) return allOf(parts);
        sources.push(LINE_SOURCE);
        break;
      case 'lineFormat':
      case 'decolorize':
        lineIsStored = false;
        break;
      case 'unpack':
      case 'labelFormat':
      case 'drop':
      case 'keep':
        return allOf(parts);
    }
  }
  return allOf(parts);
}

function changesLine({ kind }: Stage): boolean {
  return kind === 'lineFormat' || kind === 'unpack' || kind === 'decolorize';
}

function lineFilterPredicate(stage: LineFilterStage): PruningPredicate {
  const { tests, negate } = lineTestsOf(stage);
  return negate ? ANYTHING : anyOf(tests.map(testPredicate));
}

const SINGLE_IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

function testPredicate(test: LineTestSource): PruningPredicate {
  switch (test.kind) {
    case 'needle':
      return containing(test.needle);
    case 'regex':
      return regexPredicate(test.pattern);
    case 'pattern':
      return allOf(
        parsePattern(test.pattern).map(node => (node.kind === 'literal' ? containing(node.bytes) : ANYTHING)),
      );
    case 'ip':
      // A single IPv4 address has one spelling, without leading zeros; ranges and longer addresses have many.
      return SINGLE_IPV4.test(test.pattern) ? containing(Buffer.from(test.pattern)) : ANYTHING;
  }
}

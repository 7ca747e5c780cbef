/**
 * From the stages of a query to what a page must hold for an entry to survive them, in two parts: what its lines hold
 * because of line filters, and what its labels may be because of label filters. Line filters count wherever they stand before
 * the line is changed, label filters as long as nothing but parsers changed labels: every stage between only drops
 * entries or sets other labels.
 *
 * What a reader would get wrong: a changed line ends what line filters and later parsers tell, but not what filters
 * on labels tell that were parsed before.
 */
import type { LineFilterStage, Stage } from '../../language/logql/ast.ts';
import { type LineTestSource, lineTestsOf } from '../pipeline/line-tests.ts';
import { parsePattern } from '../pipeline/pattern-syntax.ts';
import { type ChunkLabelSummary, labelRequirement, noKnowledge } from './label-predicate.ts';
import { lineSource, type ParsedSource, sourceOfParser } from './parsed-sources.ts';
import { allOf, anyOf, anything, containing, type PruningPredicate } from './pruning-predicate.ts';
import { regexRequirement } from './regex-literals.ts';

/** Of the line filters. Throws an Error with the words of Go for an invalid regular expression. */
export function lineRequirement(stages: readonly Stage[]): PruningPredicate {
  const parts: PruningPredicate[] = [];
  for (const stage of stages) {
    if (stage.kind === 'lineFilter') parts.push(lineFilterRequirement(stage));
    else if (changesLine(stage)) break;
  }
  return allOf(parts);
}

/** Of the label filters. */
export function labelsRequirement(
  stages: readonly Stage[],
  knowledge: ChunkLabelSummary = noKnowledge,
): PruningPredicate {
  const parts: PruningPredicate[] = [];
  const sources: ParsedSource[] = [];
  let lineIsStored = true;
  for (const stage of stages) {
    switch (stage.kind) {
      case 'lineFilter':
        break;
      case 'labelFilter':
        parts.push(labelRequirement(stage.filter, sources, knowledge));
        break;
      case 'json':
      case 'logfmt':
        if (!lineIsStored) return allOf(parts);
        sources.push(sourceOfParser(stage));
        break;
      case 'regexp':
      case 'pattern':
        if (!lineIsStored) return allOf(parts);
        sources.push(lineSource);
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

function lineFilterRequirement(stage: LineFilterStage): PruningPredicate {
  const { tests, negate } = lineTestsOf(stage);
  return negate ? anything : anyOf(tests.map(testRequirement));
}

const singleIpv4 = /^\d{1,3}(\.\d{1,3}){3}$/;

function testRequirement(test: LineTestSource): PruningPredicate {
  switch (test.kind) {
    case 'needle':
      return containing(test.needle);
    case 'regex':
      return regexRequirement(test.pattern);
    case 'pattern':
      return allOf(
        parsePattern(test.pattern).map(node => (node.kind === 'literal' ? containing(node.bytes) : anything)),
      );
    case 'ip':
      // An address of four numbers has one spelling, without leading zeros; ranges and longer addresses have many.
      return singleIpv4.test(test.pattern) ? containing(Buffer.from(test.pattern)) : anything;
  }
}

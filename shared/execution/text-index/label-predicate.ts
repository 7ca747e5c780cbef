/**
 * What a page must hold for a filter on one label to keep some row of it. A label's value comes from the stream or from
 * metadata (the caller says what those allow), or from the line: then it stands in the line, escapes aside, and where the
 * page knows the fields of all its lines, it is a value of that field.
 *
 *     no label, or ""  |  stream or metadata  |  each parser so far
 *
 * What a reader would get wrong: a row without the label is kept by `a!="x"` and `a=""`, so such filters ask for nothing.
 * And a comparison of numbers keeps values that are no numbers, with an error; all is left to the filter's own test.
 */

import { bytesOfText } from '../../base/model/byte-text.ts';
import type { LabelFilter } from '../../language/logql/ast.ts';
import type { ParserName } from '../../storage/columns/field-extractor.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import { filterReadsError, namesOfFilter } from '../pipeline/label-filter.ts';
import { PageFlag } from './filter-layout.ts';
import { LabelValueTest, type LeafFilter } from './label-value-test.ts';
import type { ParsedSource } from './parsed-sources.ts';
import {
  allOf,
  anyOf,
  anything,
  containing,
  havingValue,
  nothing,
  type PruningPredicate,
} from './pruning-predicate.ts';
import { fieldWord, isRecordedValue, valueFact } from './value-terms.ts';

/** What a chunk knows beside its lines; without it, anything is possible. */
export interface ChunkLabelSummary {
  /** What lets a value of the stream or of metadata by the label's name pass. */
  stored(test: LabelValueTest): PruningPredicate;
  /** What lets a value of the parser's field pass, as far as the promoted columns know its values. */
  field(test: LabelValueTest, parser: ParserName, field: string): PruningPredicate;
}

export const noKnowledge: ChunkLabelSummary = { stored: () => anything, field: () => anything };

/** @param sources parsers that ran before, none where labels are those stored */
export function labelRequirement(
  filter: LabelFilter,
  sources: readonly ParsedSource[],
  knowledge: ChunkLabelSummary,
): PruningPredicate {
  if (filter.kind === 'and' || filter.kind === 'or') {
    const parts = [filter.left, filter.right].map(part => labelRequirement(part, sources, knowledge));
    return filter.kind === 'and' ? allOf(parts) : anyOf(parts);
  }
  const [name] = namesOfFilter(filter);
  // Names of ours (`__tenant_id__`), of errors, and those that a collision gives.
  if (name.startsWith('__') || isReservedName(name) || isSuffixedName(name) || filterReadsError(filter))
    return anything;
  const test = testOf(filter, name);
  if (test === undefined || test.acceptsAbsent) return anything;
  const ways = [knowledge.stored(test)];
  for (const source of sources) ways.push(parsedRequirement(test, source, knowledge));
  return anyOf(ways);
}

/** Undefined for a filter that cannot be built, which compiling the stages reports. */
function testOf(filter: LeafFilter, name: string): LabelValueTest | undefined {
  try {
    return new LabelValueTest(filter, name);
  } catch {
    return undefined;
  }
}

function parsedRequirement(
  test: LabelValueTest,
  source: ParsedSource,
  knowledge: ChunkLabelSummary,
): PruningPredicate {
  const value = test.equalTo;
  if (source.kind === 'line') return value === undefined ? anything : valueInLine(value);
  const fields = source.fieldsOf(test.name);
  if (fields === undefined) return anything;
  if (fields.length === 0) return nothing;
  const { parser, setsEmpty } = source;
  if (setsEmpty && test.accepts('')) return anything;
  // Only expressions show an object or an array, and write it anew.
  const isStructure = value !== undefined && (value[0] === '{' || value[0] === '[');
  const ofFields = anyOf(
    fields.map(field =>
      allOf([
        knowledge.field(test, parser, field),
        value === undefined || isStructure ? anything : fieldValue(value, parser, field),
      ]),
    ),
  );
  return value === undefined || isStructure ? ofFields : allOf([ofFields, valueInLine(value)]);
}

/** A broken byte of a value reads as a space, so the value is asked for piece by piece. */
const notVerbatim = /[ \ufffd]+/;

function valueInLine(value: string): PruningPredicate {
  return allOf(value.split(notVerbatim).map(piece => containing(bytesOfText(piece), PageFlag.backslash)));
}

function fieldValue(value: string, parser: ParserName, field: string): PruningPredicate {
  if (notVerbatim.test(value)) return anything;
  const bytes = bytesOfText(value);
  const unknown = parser === 'json' ? PageFlag.jsonUnknown : PageFlag.logfmtUnknown;
  // Of a sound line: the value is all that stands between quotes, or commas, or spaces.
  if (!isRecordedValue(bytes, 0, bytes.length)) return containing(bytes, PageFlag.backslash | unknown, true);
  return havingValue(valueFact(fieldWord(field), bytes, 0, bytes.length), unknown);
}

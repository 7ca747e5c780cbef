/**
 * Pruning predicate of a filter on one label: what a page must contain if the filter accepts one of its rows.
 * A label's value comes from the stream, from metadata, or from the line. The caller provides the predicate
 * for streams and metadata. A value from the line occurs in the line, apart from escapes. If the page stores
 * the fields of all its lines, it is a recorded value of that field.
 *
 *     no label, or ""  |  stream or metadata  |  each parser so far
 *
 * Pitfall: `a!="x"` and `a=""` accept rows without the label, so such filters prune nothing. A numeric
 * comparison accepts values that are not numbers, with an error. The filter's test handles all of these
 * cases.
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
  ANYTHING,
  allOf,
  anyOf,
  containing,
  havingValue,
  NOTHING,
  type PruningPredicate,
} from './pruning-predicate.ts';
import { fieldWord, isRecordedValue, valueTerm } from './value-terms.ts';

/** Label information of a chunk without its lines; without it, any value is possible. */
export interface ChunkLabelSummary {
  /** Predicate for pages in which a stored value of the label (stream or metadata) passes the test. */
  stored(test: LabelValueTest): PruningPredicate;
  /**
   * Predicate for pages in which a value of the parser's field passes the test, if field columns have its
   * values.
   */
  field(test: LabelValueTest, parser: ParserName, field: string): PruningPredicate;
}

export const NO_LABEL_SUMMARY: ChunkLabelSummary = { stored: () => ANYTHING, field: () => ANYTHING };

/** @param sources Parsers that run before the filter, none for stored labels */
export function labelPredicate(
  filter: LabelFilter,
  sources: readonly ParsedSource[],
  summary: ChunkLabelSummary,
): PruningPredicate {
  if (filter.kind === 'and' || filter.kind === 'or') {
    const parts = [filter.left, filter.right].map(part => labelPredicate(part, sources, summary));
    return filter.kind === 'and' ? allOf(parts) : anyOf(parts);
  }
  const [name] = namesOfFilter(filter);
  // Names of our own (`__tenant_id__`), of errors, and those assigned on collisions.
  if (name.startsWith('__') || isReservedName(name) || isSuffixedName(name) || filterReadsError(filter))
    return ANYTHING;
  const test = testOf(filter, name);
  if (test === undefined || test.acceptsAbsent) return ANYTHING;
  const ways = [summary.stored(test)];
  for (const source of sources) ways.push(parsedPredicate(test, source, summary));
  return anyOf(ways);
}

/** Tests of filters. A query needs them for every chunk, and compiling one takes 25 µs. */
const tests = new WeakMap<LeafFilter, LabelValueTest | typeof INVALID>();
const INVALID = Symbol('invalid');

/** Returns undefined for an invalid filter, which compiling the stages reports. */
function testOf(filter: LeafFilter, name: string): LabelValueTest | undefined {
  let test = tests.get(filter);
  if (test === undefined) {
    test = compiledTest(filter, name);
    tests.set(filter, test);
  }
  return test === INVALID ? undefined : test;
}

function compiledTest(filter: LeafFilter, name: string): LabelValueTest | typeof INVALID {
  try {
    return new LabelValueTest(filter, name);
  } catch {
    return INVALID;
  }
}

function parsedPredicate(
  test: LabelValueTest,
  source: ParsedSource,
  summary: ChunkLabelSummary,
): PruningPredicate {
  const value = test.equalTo;
  if (source.kind === 'line') return value === undefined ? ANYTHING : valueInLine(value);
  const fields = source.fieldsOf(test.name);
  if (fields === undefined) return ANYTHING;
  if (fields.length === 0) return NOTHING;
  const { parser, setsEmpty } = source;
  if (setsEmpty && test.accepts('')) return ANYTHING;
  // Only expressions return an object or an array, and they format it in a different way.
  const isStructure = value !== undefined && (value[0] === '{' || value[0] === '[');
  const ofFields = anyOf(
    fields.map(field =>
      allOf([
        summary.field(test, parser, field),
        value === undefined || isStructure ? ANYTHING : fieldValue(value, parser, field),
      ]),
    ),
  );
  return value === undefined || isStructure ? ofFields : allOf([ofFields, valueInLine(value)]);
}

/** An invalid byte of a value reads as a space, so the parts between are looked up separately. */
const NOT_VERBATIM = /[ \ufffd]+/;

function valueInLine(value: string): PruningPredicate {
  return allOf(value.split(NOT_VERBATIM).map(part => containing(bytesOfText(part), PageFlag.backslash)));
}

function fieldValue(value: string, parser: ParserName, field: string): PruningPredicate {
  if (NOT_VERBATIM.test(value)) return ANYTHING;
  const bytes = bytesOfText(value);
  const unknown = parser === 'json' ? PageFlag.jsonUnknown : PageFlag.logfmtUnknown;
  // In a valid line, the value is the whole text between quotes, commas or spaces.
  if (!isRecordedValue(bytes, 0, bytes.length)) return containing(bytes, PageFlag.backslash | unknown, true);
  return havingValue(valueTerm(fieldWord(field), bytes, 0, bytes.length), unknown);
}

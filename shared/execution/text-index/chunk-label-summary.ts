/**
 * Label information of one chunk without its lines, for the pages that a query plans: labels of the streams,
 * values of structured metadata if the footer lists them, and page summaries.
 *
 * Pitfall: bitmaps cover all pages of the chunk in the footer's order, and contain 1 for unknown pages. Pages
 * that are not planned contain 0 for stored labels, because no caller reads them.
 */

import { labelValue } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import { sanitizeName } from '../../base/text/text.ts';
import type { ColumnMeta, PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import { metadataOf } from '../../storage/chunk/stored-page.ts';
import { fieldOfKey } from '../../storage/columns/column-field.ts';
import type { ParserName } from '../../storage/columns/field-extractor.ts';
import type { ChunkLabelSummary } from './label-predicate.ts';
import type { LabelValueTest } from './label-value-test.ts';
import type { FieldSummary } from './page-summary.ts';
import {
  ANYTHING,
  allOf,
  anyOf,
  havingValue,
  NOTHING,
  onPages,
  type PruningPredicate,
} from './pruning-predicate.ts';
import type { PageSummary } from './summary-codec.ts';
import { metadataWord, valueTerm } from './value-terms.ts';

interface KnownChunk {
  readonly streams: readonly Stream[];
  readonly pages: readonly PageMeta[];
  /** Planned pages, with the runs that the query reads of each. */
  readonly planned: ReadonlyMap<PageMeta, readonly RunMeta[]>;
  /** Summary of each page; empty if there are none. */
  readonly summaries: readonly PageSummary[];
}

export function labelSummaryOf(chunk: KnownChunk): ChunkLabelSummary {
  return {
    stored: test => storedPredicate(test, chunk),
    field: (test, parser, field) => fieldPredicate(test, parser, field, chunk.summaries),
  };
}

const NO = 0;
const YES = 1;
/** Result if the page's text index records the terms of all values. */
const ASK = 2;

function storedPredicate(test: LabelValueTest, { streams, pages, planned }: KnownChunk): PruningPredicate {
  const may = new Uint8Array(pages.length);
  const ask = new Uint8Array(pages.length);
  // Cache by stream: the same few streams occur in every page.
  const ofStreams = new Map<number, boolean>();
  const streamMay = ({ stream }: RunMeta): boolean => {
    let known = ofStreams.get(stream);
    if (known === undefined) {
      const value = labelValue(streams[stream].labels, test.name);
      known = value !== undefined && test.accepts(value);
      ofStreams.set(stream, known);
    }
    return known;
  };
  for (const [i, page] of pages.entries()) {
    const runs = planned.get(page);
    if (runs === undefined) continue;
    const answer = runs.some(streamMay) ? YES : metadataAnswer(test, metadataOf(page));
    may[i] = answer === YES ? 1 : 0;
    ask[i] = answer === ASK ? 1 : 0;
  }
  const known = may.includes(1) ? onPages(may) : NOTHING;
  const value = test.equalTo;
  if (value === undefined || !ask.includes(1)) return known;
  const bytes = Buffer.from(value);
  const term = valueTerm(metadataWord(test.name), bytes, 0, bytes.length);
  return anyOf([known, allOf([onPages(ask), havingValue(term)])]);
}

function metadataAnswer(
  test: LabelValueTest,
  columns: readonly ColumnMeta[],
): typeof NO | typeof YES | typeof ASK {
  let answer: typeof NO | typeof ASK = NO;
  for (const { name, dictionary } of columns) {
    if (name !== test.name) {
      if (sanitizeName('', name) === test.name) return YES;
    } else if (dictionary !== undefined) {
      if (dictionary.some(value => test.accepts(value))) return YES;
    } else if (test.equalTo === undefined) return YES;
    else answer = ASK;
  }
  return answer;
}

function fieldPredicate(
  test: LabelValueTest,
  parser: ParserName,
  field: string,
  summaries: readonly PageSummary[],
): PruningPredicate {
  if (summaries.length === 0) return ANYTHING;
  const mayMatch = Uint8Array.from(summaries, summary =>
    summaryAllows(test, parser, field, summary) ? 1 : 0,
  );
  return onPages(mayMatch);
}

/**
 * Tests the column summary of a label name. A page has at most one column per parser and label name, and that
 * column excludes lines with another field of the name.
 */
function summaryAllows(
  test: LabelValueTest,
  parser: ParserName,
  field: string,
  summary: PageSummary,
): boolean {
  for (const [key, known] of summary) {
    const found = fieldOfKey(key);
    if (found?.parser === parser && found.name === field) return allows(test, known);
  }
  return true;
}

function allows(test: LabelValueTest, { values, ranges }: FieldSummary): boolean {
  return (
    values.some(value => test.accepts(value)) ||
    ranges.some(({ least, most }) => test.acceptsBetween(least, most))
  );
}

/** Answers from columns against those of the parser: random lines, streams, metadata and pipelines. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { clock, type Entry, extractAll, extractorOf, makePage, runPipeline } from '../pipeline/support.ts';
import { after, before, cases, groupings, metadata, streams, unwraps } from './queries.ts';
import { logByColumns, samplesByColumns, splitFields } from './support.ts';

function entriesOf(lines: fc.Arbitrary<string | Buffer>): fc.Arbitrary<Entry[]> {
  const entry = fc.record({ line: lines, stream: streams, metadata });
  // Rows of one stream are adjacent.
  const order = ({ stream = {} }: Entry) => JSON.stringify(stream);
  return fc
    .array(entry, { minLength: 1, maxLength: 24 })
    .map(all => all.sort((x, y) => (order(x) < order(y) ? -1 : order(x) > order(y) ? 1 : 0)));
}

const forms = cases.flatMap(one => [{ ...one, form: 'values' } as const, { ...one, form: 'split' } as const]);

describe.each(forms)('$name from columns, $form', ({ lines, parsers, form }) => {
  test('log queries', () => {
    splitFields.count = 0;
    let replaced = 0;
    let dropped = 0;
    let rows = 0;
    let parsed = 0;
    fc.assert(
      fc.property(entriesOf(lines), before, parsers, after, (entries, first, parser, rest) => {
        const stages = `${first} ${parser} ${rest}`;
        const page = makePage(entries);
        const pipeline = compileLogPipeline(parseQuery(`{app="x"} ${stages}`) as LogExpr, { clock });
        const wanted = runPipeline(pipeline, page).map(
          ({ row, line, stream, structuredMetadata, parsed: fields }) => ({
            row,
            line,
            categories: { stream, structuredMetadata, parsed: fields },
          }),
        );
        const got = logByColumns(stages, page, form);
        expect(got.answer).toEqual(wanted);
        dropped += got.dropped;
        if (got.replaced) {
          replaced++;
          rows += page.rows - got.dropped;
          parsed += got.parsed;
        }
      }),
      { numRuns: 500 },
    );
    // The property would hold with no columns at all: most must be used.
    expect(replaced).toBeGreaterThan(30);
    expect(dropped).toBeGreaterThan(5);
    if (form === 'split') expect(splitFields.count).toBeGreaterThan(30);
    expect(parsed).toBeLessThan(rows * 0.9);
  });

  test('metric queries', () => {
    let replaced = 0;
    let rows = 0;
    let parsed = 0;
    fc.assert(
      fc.property(
        entriesOf(lines),
        before,
        parsers,
        after,
        unwraps,
        groupings,
        fc.boolean(),
        (entries, first, parser, rest, unwrap, by, bytes) => {
          const log = `{app="x"} ${first} ${parser} ${rest} ${unwrap}`;
          const query =
            unwrap === ''
              ? `sum by ${by} (${bytes ? 'bytes_over_time' : 'count_over_time'}(${log} [1m]))`
              : `max_over_time(${log} [1m]) by ${by}`;
          const page = makePage(entries);
          const got = samplesByColumns(query, page, form);
          expect(got.answer).toEqual(extractAll(extractorOf(query), page));
          if (got.replaced) {
            replaced++;
            rows += page.rows - got.dropped;
            parsed += got.parsed;
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(replaced).toBeGreaterThan(30);
    expect(parsed).toBeLessThan(rows * 0.9);
  });
});

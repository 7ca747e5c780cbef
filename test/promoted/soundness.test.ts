/** Answers from columns against those of the parser: random lines, streams, metadata and pipelines. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogExpr } from '../../shared/logql/ast.ts';
import { parseQuery } from '../../shared/logql/parse.ts';
import { compileLogPipeline } from '../../shared/pipeline/pipeline.ts';
import {
  clock,
  type Entry,
  extractAll,
  extractorOf,
  makePage,
  runPipeline,
  type Texts,
} from '../pipeline/support.ts';
import { jsonLines, logfmtLines } from './lines.ts';
import { logByColumns, samplesByColumns } from './support.ts';

const streams: fc.Arbitrary<Texts> = fc.constantFrom<Texts[]>(
  { app: 'x' },
  { app: 'x' },
  { app: 'x' },
  { app: 'x', a: 'of the stream' },
  { app: 'x', status: '7' },
  { app: 'x', n_k: '1', a_extracted: 'q' },
);
const metadata: fc.Arbitrary<Texts> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Texts>({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Texts[]>(
      { a: 'meta' },
      { status: '500' },
      { b: '', trace: 't' },
      { __error__: 'E' },
    ),
  },
);

const names = ['a', 'b', 'status', 'd', 'n_k', 'a_b', 'app'];
const filter = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom('="x"', '=""', '!=""', '!="x"', '=~"x|1.*"', '!~".+"', '="1.50"', '=" "', '="é"'),
    )
    .map(([name, test]) => `${name}${test}`),
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom('>1', '>=200', '!=1.5', '<10ms', '>1KB', '==0', '!=ip("1.2.3.4")', '=ip("10.0.0.0/8")'),
    )
    .map(([name, test]) => `${name}${test}`),
  fc.constantFrom('__error__=""', '__error__="JSONParserErr"', 'a_extracted="x"', 'missing=""', 'missing>1'),
);
const filters = fc.oneof(
  { weight: 5, arbitrary: filter },
  { weight: 1, arbitrary: fc.tuple(filter, filter).map(([x, y]) => `${x} and ${y}`) },
  { weight: 1, arbitrary: fc.tuple(filter, filter).map(([x, y]) => `${x} or ${y}`) },
);
const before = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  fc.constantFrom(
    '|= "1"',
    '!= "zzz"',
    '| trace="t"',
    '| a>1',
    '| status=ip("1.2.3.4")',
    '| line_format "{{.app}}"',
    '| label_format a=app',
  ),
);
const after = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: filters.map(text => `| ${text}`) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '| drop a',
          '| keep a, b',
          '| label_format z=a',
          '| label_format a="new"',
          '| line_format "{{.a}}-{{.status}}"',
          '|= "1"',
          '| json',
          '| logfmt',
          '| decolorize',
          '| drop __error__',
          '| json b="a"',
          '| logfmt b',
          '| unpack',
        ),
      },
    ),
    { maxLength: 3 },
  )
  .map(stages => stages.join(' '));

const jsonParsers = fc.constantFrom(
  '| json',
  '| json',
  '| json',
  '| json a="a"',
  '| json a, status',
  '| json k="n.k", s="status"',
  '| json x="[\\"a.b\\"]"',
  '| json x="a.b"',
  '| json a="status"',
  '| json app="a"',
  '| json status="status", n="n"',
  '| json t="tags[0]", a="a"',
  '| json a="a", a="b"',
  '| json b="[\\"a_b\\"]"',
  '| json a="[\\" a\\"]"',
);
const logfmtParsers = fc.constantFrom(
  '| logfmt',
  '| logfmt',
  '| logfmt --strict',
  '| logfmt --keep-empty',
  '| logfmt --strict --keep-empty',
  '| logfmt a, status',
  '| logfmt a="b"',
  '| logfmt a_b',
  '| logfmt --strict a',
  '| logfmt app="app"',
  '| logfmt a="a", d="d"',
);
const groupings = fc.constantFrom(
  '(a)',
  '(status, b)',
  '(app)',
  '(app, a)',
  '(__error__)',
  '(a_extracted)',
  '(n_k)',
  '(a_b, d)',
  '()',
  '(k, s, x)',
  '(missing)',
);

const cases = [
  { name: 'json', lines: jsonLines, parsers: jsonParsers },
  { name: 'logfmt', lines: logfmtLines, parsers: logfmtParsers },
];

function entriesOf(lines: fc.Arbitrary<string | Buffer>): fc.Arbitrary<Entry[]> {
  const entry = fc.record({ line: lines, stream: streams, metadata });
  // Rows of one stream lie together.
  const order = ({ stream = {} }: Entry) => JSON.stringify(stream);
  return fc
    .array(entry, { minLength: 1, maxLength: 24 })
    .map(all => all.sort((x, y) => (order(x) < order(y) ? -1 : order(x) > order(y) ? 1 : 0)));
}

describe.each(cases)('$name from columns', ({ lines, parsers }) => {
  test('log queries', () => {
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
        const got = logByColumns(stages, page);
        expect(got.answer).toEqual(wanted);
        dropped += got.dropped;
        if (got.replaced) {
          replaced++;
          rows += page.rows - got.dropped;
          parsed += got.parsed;
        }
      }),
      { numRuns: 800 },
    );
    // The property would hold with no columns at all: most must be used.
    expect(replaced).toBeGreaterThan(100);
    expect(dropped).toBeGreaterThan(100);
    expect(parsed).toBeLessThan(rows * 0.9);
  });

  test('metric queries', () => {
    let replaced = 0;
    let rows = 0;
    let parsed = 0;
    const unwraps = fc.constantFrom(
      '',
      '',
      '| unwrap status',
      '| unwrap a',
      '| unwrap duration(d)',
      '| unwrap bytes(b) | __error__=""',
      '| unwrap status | a!=""',
      '| unwrap n_k | status>1',
    );
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
          const got = samplesByColumns(query, page);
          expect(got.answer).toEqual(extractAll(extractorOf(query), page));
          if (got.replaced) {
            replaced++;
            rows += page.rows - got.dropped;
            parsed += got.parsed;
          }
        },
      ),
      { numRuns: 800 },
    );
    expect(replaced).toBeGreaterThan(100);
    expect(parsed).toBeLessThan(rows * 0.9);
  });
});

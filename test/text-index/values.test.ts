/**
 * Label filters on values of streams, metadata and parsed fields: no page with a matching entry is pruned,
 * for any entries; and pages without the value are pruned.
 */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Stream } from '../../shared/base/model/page.ts';
import { FieldColumnWriter } from '../../shared/execution/fields/field-column-writer.ts';
import { labelSummaryOf } from '../../shared/execution/text-index/chunk-label-summary.ts';
import { FilterBuilder } from '../../shared/execution/text-index/filter-builder.ts';
import { decodeHeader } from '../../shared/execution/text-index/filter-layout.ts';
import { withoutFilter } from '../../shared/execution/text-index/filter-reader.ts';
import { labelsPredicate, linePredicate } from '../../shared/execution/text-index/line-predicate.ts';
import { summariesOf } from '../../shared/execution/text-index/page-summary.ts';
import { allOf } from '../../shared/execution/text-index/pruning-predicate.ts';
import {
  decodeSummaries,
  type PageSummary,
  SummaryWriter,
} from '../../shared/execution/text-index/summary-codec.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseLogQuery } from '../../shared/language/logql/parse.ts';
import {
  ColumnKind,
  type ColumnMeta,
  type PageMeta,
  type RunMeta,
} from '../../shared/storage/chunk/format.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { type Entry, makePage, passes, runLog, type Texts } from '../pipeline/support.ts';
import { bySuite } from '../support/suite.ts';
import { ask, pageOf } from './support.ts';

/** Values that a footer lists. */
const LISTED_VALUES = 2;
const NO_BLOCK = { offset: 0, storedBytes: 0, rawBytes: 0, codec: 0, crc: 0 };

interface Chunk {
  readonly section: Buffer;
  readonly summaries: readonly PageSummary[];
  readonly streams: readonly Stream[];
  readonly pages: readonly PageMeta[];
}

/** Writes pages of entries as the indexer and the chunk writer do. */
function chunkOf(pages: readonly (readonly Entry[])[]): Chunk {
  const filters = new FilterBuilder();
  const writer = new SummaryWriter();
  const fieldWriter = new FieldColumnWriter({
    compression: QUICK_COMPRESSION,
    minRows: 1,
    maxShare: 1,
    maxRowBytes: 20,
  });
  const streams: Stream[] = [];
  const metas = pages.map((entries): PageMeta => {
    const { runs, metadata, rows } = makePage(entries);
    const columns = metadata.map(({ name, count, valueAt }): ColumnMeta => {
      const values = Array.from({ length: count }, (_, i) => valueAt(i));
      const dictionary = count <= LISTED_VALUES ? values : undefined;
      return { kind: ColumnKind.metadata, name, block: NO_BLOCK, dictionary, constant: false };
    });
    const large = metadata
      .filter(({ count }) => count > LISTED_VALUES)
      .map(({ name, count, valueAt }) => ({
        name,
        values: Array.from({ length: count }, (_, i) => Buffer.from(valueAt(i))),
      }));
    const { lines, lineOffsets } = pageOf(entries.map(({ line }) => line));
    fieldWriter.columnsOf(lines, lineOffsets, rows);
    filters.addPage(lines, lineOffsets, rows, { fields: fieldWriter.fields, metadata: large });
    writer.addPage(summariesOf(fieldWriter.cells));
    const runMetas = runs.map(({ stream, firstRow, rows: ofRun }): RunMeta => {
      const index = streams.push(stream) - 1;
      return { stream: index, firstRow, rows: ofRun, first: 0, last: 0, lineBytes: 0, metadataBytes: 0 };
    });
    return {
      offset: 0,
      storedBytes: 0,
      rows,
      lineBytes: lines.length,
      base: 0,
      scale: 0,
      runs: runMetas,
      columns,
    };
  });
  const summaries = decodeSummaries(writer.finish(), pages.length)!;
  return { section: filters.finish(), summaries, streams, pages: metas };
}

/** For each page whether it may matter to `{app="x"} STAGES`. */
function mayMatter({ section, summaries, streams, pages }: Chunk, text: string): boolean[] {
  const { stages } = parseLogQuery(`{app="x"} ${text}`) as LogExpr;
  const planned = new Map(pages.map(page => [page, page.runs]));
  const labels = labelsPredicate(stages, labelSummaryOf({ streams, pages, planned, summaries }));
  const without = withoutFilter(labels, pages.length);
  const answer = ask(section, pages.length, allOf([linePredicate(stages), labels]));
  // Verdicts without the filter never contradict those with it.
  for (const [page, bit] of without.entries()) if (bit === 0) expect(answer[page]).toBe(false);
  return answer;
}

const values = [
  'u-1',
  'u-2',
  '5',
  '503',
  '4711',
  '12',
  '1.5',
  '1.50',
  '8s',
  '250ms',
  '3KB',
  'error',
  'ta k',
  '',
  'é',
  '-3',
  '{"b":1}',
  'a\\b',
];
const value = fc.constantFrom(...values);
const name = fc.constantFrom('a', 'b', 'a_b', 'a.b', 'c');
const jsonValue = fc.oneof(
  { weight: 4, arbitrary: value.map(text => JSON.stringify(text)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('503', '4711', '5', '1.5', '-3', 'true', 'null', '1e3', '[1]', '{"b":"u-1"}'),
  },
  {
    weight: 1,
    arbitrary: value.map(text => `"\\u0${(text.charCodeAt(0) || 0x75).toString(16).padStart(3, '0')}-1"`),
  },
  { weight: 1, arbitrary: fc.constantFrom('01', 'x', '"open', '') },
);
const jsonLine = fc
  .tuple(
    fc.array(fc.tuple(name, jsonValue), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '', ' ', '}'),
  )
  .map(
    ([pairs, odd]) =>
      `${odd === ' ' ? ' ' : ''}{${pairs.map(([key, text]) => `"${key}":${text}`).join(',')}}${odd === '}' ? '}' : ''}`,
  );
const logfmtLine = fc
  .array(
    fc.tuple(
      name,
      fc.oneof(
        value,
        value.map(text => JSON.stringify(text)),
      ),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map(pairs => pairs.map(([key, text]) => `${key}=${text}`).join(' '));
const metadata = fc.dictionary(fc.constantFrom('a', 'b', 'm'), value, { maxKeys: 2 });
const stream = fc.constantFrom<Texts>(
  { app: 'x' },
  { app: 'x' },
  { app: 'x', a: 'u-1' },
  { app: 'x', c: '503' },
);

/** Pages are of one kind more often than not, as streams are. */
const page = fc
  .oneof(fc.constant(jsonLine), fc.constant(logfmtLine), fc.constant(fc.oneof(jsonLine, logfmtLine, value)))
  .chain(line => fc.array(fc.record({ line, metadata, stream }), { minLength: 1, maxLength: 6 }));
const filter = fc.oneof(
  fc
    .tuple(name, fc.constantFrom('=', '=', '=', '!=', '=~'), value)
    .map(
      ([label, op, text]) =>
        `${label.replace('.', '_')}${op}${JSON.stringify(op === '=~' ? text.replace(/\W/g, '.') : text)}`,
    ),
  fc
    .tuple(
      name,
      fc.constantFrom('>', '>=', '<', '<=', '==', '!='),
      fc.constantFrom('5', '100', '1.5', '1s', '300ms', '2KB', '-3'),
    )
    .map(([label, op, limit]) => `${label.replace('.', '_')} ${op} ${limit}`),
  value.map(text => `m=${JSON.stringify(text)}`),
  value.map(text => `a_extracted=${JSON.stringify(text)}`),
);
const stage = fc.oneof(
  { weight: 4, arbitrary: filter.map(text => `| ${text}`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(filter, fc.constantFrom('and', 'or'), filter)
      .map(([a, op, b]) => `| ${a} ${op} ${b}`),
  },
  { weight: 2, arbitrary: fc.constantFrom('| json', '| logfmt', '| json', '| logfmt --keep-empty') },
  fc.constantFrom(
    '| json a="b"',
    '| json c="a.b"',
    '| json a="a", b="b[0]"',
    '| logfmt a="b"',
    '| logfmt c="a_b"',
  ),
  fc.constantFrom(
    '| line_format "{{.a}}"',
    '| drop a',
    '| label_format b=a',
    '| regexp "(?P<c>[a-z]+)"',
    '| __error__=""',
  ),
);

describe('matching entries', () => {
  test('are on no pruned page', () => {
    let kept = 0;
    let pruned = 0;
    fc.assert(
      fc.property(
        fc.array(page, { minLength: 1, maxLength: 3 }),
        fc.array(fc.array(stage, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 4 }),
        (pages, queries) => {
          const chunk = chunkOf(pages);
          for (const stages of queries) {
            const text = stages.join(' ');
            const answer = mayMatter(chunk, text);
            for (const [i, entries] of pages.entries()) {
              const survives = runLog(text, entries).length > 0;
              if (survives) expect({ text, i, may: answer[i] }).toEqual({ text, i, may: true });
              if (survives) kept++;
              if (!answer[i]) pruned++;
            }
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(kept).toBeGreaterThan(bySuite({ fast: 20, full: 100 }));
    expect(pruned).toBeGreaterThan(bySuite({ fast: 20, full: 100 }));
  });
});

/** Few names and values, so that most queries keep something, and lines that are hardly sound. */
describe('matching entries of odd lines', () => {
  const few = fc.constantFrom('u-1', 'GET', '5', '7.5ms', '');
  const key = fc.constantFrom('a', 'b');
  const members = fc.array(fc.tuple(key, few, fc.nat(9)), { minLength: 1, maxLength: 2 });
  const member = ([label, text, way]: [string, string, number]): string => {
    if (way === 0) return `"${label}":"\\u0075-1"`;
    if (way === 1) return `"${label}":{"b":"${text}"}`;
    if (way === 2) return `"x.${label}":"${text}"`;
    return `"${label}":${/^\d$/.test(text) && way < 6 ? text : `"${text}"`}`;
  };
  const jsonOf = fc
    .tuple(
      members,
      fc.constantFrom(
        '{*}',
        '{*}',
        '{*}',
        '{*}',
        ' {*}',
        '{*}}',
        '{*,}',
        '{*',
        '{*,"q":[{}',
        '"q":{*}',
        '[{*}]',
      ),
    )
    .map(([list, frame]) => frame.replace('*', () => list.map(member).join(',')));
  const logfmtOf = fc
    .tuple(members, fc.constantFrom('*', '*', '*', '*', 'one two *', '* "', '* =x', '{"a":1} *'))
    .map(([list, frame]) =>
      frame.replace('*', () =>
        list.map(([label, text, way]) => `${label}=${way === 0 ? `"u\\u002d1"` : text}`).join(' '),
      ),
    );
  const rows = fc
    .constantFrom(jsonOf, logfmtOf, fc.oneof(jsonOf, logfmtOf))
    .chain(line => fc.array(fc.record({ line }), { minLength: 1, maxLength: 2 }));
  const parser = fc.constantFrom(
    ...['| json', '| json', '| logfmt', '| logfmt'],
    '| json a="b"',
    '| json a="a.b"',
    '| json b="x.a", a="a"',
    '| json a="a"',
    '| logfmt a="b"',
    '| logfmt b="a", a="b"',
    '| json | logfmt',
    '| logfmt --keep-empty',
  );
  const comparison = fc.tuple(
    fc.constantFrom('>', '>=', '<', '<=', '=='),
    fc.constantFrom('5', '6', '7.5ms', '8ms', '1KB'),
  );
  const test1 = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(key, few).map(([label, text]) => `${label}="${text}"`) },
    fc.tuple(key, fc.constantFrom('u-.', 'G.*', '.*ms')).map(([label, text]) => `${label}=~"${text}"`),
    fc.tuple(key, comparison).map(([label, [op, limit]]) => `${label} ${op} ${limit}`),
    few.map(text => `a_b="${text}"`),
  );

  test('are on no pruned page', () => {
    let kept = 0;
    let pruned = 0;
    const query = fc.tuple(parser, test1).map(([parse, filters]) => `${parse} | ${filters}`);
    fc.assert(
      fc.property(
        fc.array(rows, { minLength: 4, maxLength: 4 }),
        fc.array(query, { minLength: 6, maxLength: 6 }),
        (pages, queries) => {
          const chunk = chunkOf(pages);
          for (const text of queries) {
            const answer = mayMatter(chunk, text);
            for (const [i, entries] of pages.entries()) {
              const survives = runLog(text, entries).length > 0;
              if (survives && !answer[i]) expect({ text, lines: entries }).toBe('on a page that is read');
              if (survives) kept++;
              if (!answer[i]) pruned++;
            }
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(kept).toBeGreaterThan(bySuite({ fast: 120, full: 600 }));
    expect(pruned).toBeGreaterThan(bySuite({ fast: 120, full: 600 }));
  });
});

describe('pruned pages', () => {
  const json = (i: number) =>
    `{"user":"u-${i}","status":${200 + i},"took":"${i}.5ms","level":"${i < 5 ? 'info' : 'error'}","n":{"id":${i}}}`;
  const logfmt = (i: number) =>
    `user=u-${i} status=${200 + i} took=${i}.5ms level=${i < 5 ? 'info' : 'error'} n_id=${i}`;
  const entries = (line: (i: number) => string, from: number) =>
    Array.from({ length: 5 }, (_, i) => ({
      line: line(from + i),
      metadata: { trace: `t-${from + i}`, zone: `z${from}` },
    }));
  /** Two pages each: numbers 0 to 4, and 5 to 9. */
  const chunks = {
    json: chunkOf([entries(json, 0), entries(json, 5)]),
    logfmt: chunkOf([entries(logfmt, 0), entries(logfmt, 5)]),
  };

  test.each([
    ['user="u-7"', [false, true]],
    ['status="203"', [true, false]],
    ['status=203', [true, false]],
    ['status >= 205', [false, true]],
    ['status > 209', [false, false]],
    ['status < 204 or status > 208', [true, true]],
    ['took > 5ms', [false, true]],
    ['took <= 4500us', [true, false]],
    ['took == 7.5ms', [false, true]],
    ['took != 7.5ms', [true, true]],
    ['level=~"err.*"', [false, true]],
    ['level!="error"', [true, true]],
    ['n_id="3"', [true, false]],
    ['n_id="3" and user="u-7"', [false, false]],
    ['zone="z5"', [false, true]],
    ['zone=~"z."', [true, true]],
    ['trace="t-6"', [false, true]],
    ['nowhere="u-7"', [false, false]],
    ['app="x"', [true, true]],
    ['app="y"', [false, false]],
  ])('%s', (text, want) => {
    expect(mayMatter(chunks.json, `| json | ${text}`)).toEqual(want);
    expect(mayMatter(chunks.logfmt, `| logfmt | ${text}`)).toEqual(want);
  });

  test('fields that expressions name', () => {
    expect(mayMatter(chunks.json, '| json u="user", i="n.id" | u="u-7"')).toEqual([false, true]);
    expect(mayMatter(chunks.json, '| json u="user", i="n.id" | i="3"')).toEqual([true, false]);
    expect(mayMatter(chunks.json, '| json u="user" | user="u-7"')).toEqual([false, false]);
    expect(mayMatter(chunks.logfmt, '| logfmt u="user" | u="u-7"')).toEqual([false, true]);
  });

  test('an expression sets an empty label, which is not a number and stays', () => {
    const lines = ['{"b":5}', '{"c":1}'];
    const chunk = chunkOf([lines.map(line => ({ line }))]);
    expect(passes('| json a="b" | a > 5', lines)).toEqual([false, true]);
    expect(mayMatter(chunk, '| json a="b" | a > 5')).toEqual([true]);
    expect(mayMatter(chunk, '| json | b > 5')).toEqual([false]);
  });

  test('prunes fewer pages if another parser handles the line', () => {
    // Terms do not contain the field of a value.
    expect(mayMatter(chunks.logfmt, '| json | user="u-7"')).toEqual([false, true]);
    expect(mayMatter(chunks.logfmt, '| json | user="u-17"')).toEqual([false, false]);
    expect(mayMatter(chunks.json, '| logfmt | user="u-7"')).toEqual([true, true]);
  });

  test('a filter of version 1 has no values, and is not queried for any', () => {
    const { section } = chunks.json;
    expect(decodeHeader(section, 2).version).toBe(3);
    const old = asVersion1(section);
    const chunk = { ...chunks.json, section: old, summaries: [] };
    expect(mayMatter(chunk, '| json | user="u-77"')).toEqual([true, true]);
    expect(mayMatter(chunk, '| trace="t-99"')).toEqual([true, true]);
    expect(mayMatter(chunk, '| zone="z9"')).toEqual([false, false]);
  });
});

/** The same bytes under the older version, its checksum right. */
function asVersion1(section: Buffer): Buffer {
  const old = Buffer.from(section);
  const { headerBytes } = decodeHeader(section, 2);
  old.writeUInt32LE(1, 0);
  old.writeUInt32LE(crc32(old.subarray(0, headerBytes - 4)), headerBytes - 4);
  return old;
}

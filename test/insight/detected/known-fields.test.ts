/**
 * Detected fields of pages whose columns know every field: the same as from the lines, and no line is read.
 * The property covers the contents of lines, which of them count, and their distribution to chunks.
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import {
  type DetectedFields,
  type EntriesOf,
  findFields,
} from '../../../shared/read/insight/detected/detect-fields.ts';
import type { QueryEngine } from '../../../shared/read/query/engine.ts';
import { EVERY_FIELD } from '../../../shared/read/query/every-field-scan.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { COMPACTION_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { jsonLines, logfmtLines } from '../../fields/lines.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import { bySuite } from '../../support/suite.ts';
import { CountingSource, columnEngine, everyField, LINES_READ, LinelessSource } from './column-engine.ts';

const { signal } = new AbortController();

interface Asked {
  readonly query: string;
  readonly lineLimit: number;
  readonly limit: number;
}

function entriesOf(engine: QueryEngine, { query, lineLimit }: Asked): EntriesOf {
  return async field => {
    const asked = { ...rangeQuery(query, { limit: lineLimit, categorize: true }), field };
    const { result } = await engine.range(asked, requester());
    if (result.kind !== 'streams') throw new Error('not a log query');
    return result.streams;
  };
}

function fieldsOf(engine: QueryEngine, asked: Asked): Promise<DetectedFields> {
  return findFields(entriesOf(engine, asked), { limit: asked.limit, signal });
}

/** Time of the day, ns: most lines contain their time. */
function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(11, 23);
}

const pairs = fc.record(
  {
    status: fc.constantFrom('200', '301', '500', '1e3'),
    level: fc.constantFrom('error', 'info', '', 'true'),
    took: fc.constantFrom('5ms', '1.5s', '12KB', '1m'),
    app: fc.constantFrom('inner', 'a'),
  },
  { requiredKeys: ['status'] },
);
const times = fc.integer({ min: 0, max: 1000 });
type Line = (seconds: number) => string;
const line: fc.Arbitrary<Line> = fc.oneof(
  {
    weight: 3,
    arbitrary: pairs.map(
      (given): Line =>
        at =>
          JSON.stringify({ ts: clockTime(at), http: given }),
    ),
  },
  {
    weight: 3,
    arbitrary: pairs.map(
      (given): Line =>
        () =>
          JSON.stringify(given),
    ),
  },
  {
    weight: 3,
    arbitrary: pairs.map(
      (given): Line =>
        at =>
          `ts=${clockTime(at)} ${Object.entries(given)
            .map(([key, value]) => `${key}=${value}`)
            .join(' ')}`,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(jsonLines, logfmtLines).map(
      (text): Line =>
        () =>
          String(text),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Line[]>(
      () => '',
      () => '',
      () => 'plain words',
      () => 'a=1 plain words b=2',
      () => '{"a":{"b":null},"c":[1]}',
      () => 'plain words',
      () => 'GET /a?b=c HTTP/1.1 took=5ms',
      () => 'level_extracted=x level=error',
      () => '{"status":1,"status_extracted":2}',
      () => ' {}=1 status=200',
      () => 'a= {}=1 b=2',
      () => '{"status":200,"status":500}',
      at => `${clockTime(at)} started n=1 n=2`,
    ),
  },
);
const entry: fc.Arbitrary<DatedEntry> = fc
  .record({
    stream: fc.constantFrom<DatedEntry['stream']>(
      { app: 'a' },
      { app: 'a' },
      { app: 'a', status: 'label' },
      { app: 'a', http_level: 'label' },
    ),
    seconds: times,
    line,
    metadata: fc.constantFrom<DatedEntry['metadata']>({}, {}, { trace: 't1' }, { level: 'stored' }),
  })
  .map(({ stream, seconds, line: write, metadata }) => ({
    stream,
    day: DAY,
    time: seconds * 1e9,
    line: write(seconds),
    metadata,
  }));

const asked: fc.Arbitrary<Asked> = fc.record({
  query: fc.constantFrom(
    '{app="a"}',
    '{app="a"}',
    '{app="a"} | trace="t1"',
    '{app="a"} | level!="stored" | status!="label"',
    '{app="a"} |= "2"',
    '{app="a"} | json',
    '{app="a"} | logfmt | drop level',
  ),
  lineLimit: fc.constantFrom(1, 5, 1000),
  limit: fc.constantFrom(1, 3, 1000, 1000),
});
const deleted = fc.constantFrom<string[][]>([], [], ['{app="a"} |= "5"'], ['{app="a", status="label"}']);
const sourceOf = (store: ObjectStore) => new CountingSource(store);

test('fields are the same from columns and from lines', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { minLength: 1, maxLength: 30, selector: ({ time }) => time }),
      fc.array(asked, { minLength: 4, maxLength: 4 }),
      deleted,
      fc.constantFrom(1, 2),
      fc.constantFrom({}, { minRows: 4 }, { minRows: 1000 }),
      async (entries, questions, hidden, chunks, options) => {
        const parts = { sourceOf, chunks, deleted: hidden };
        const plain = await columnEngine(entries, { ...parts, indexer: undefined });
        const known = await columnEngine(entries, { ...parts, indexer: everyField(options) });
        for (const question of questions) {
          const want = await fieldsOf(plain, question);
          expect({ question, ...(await fieldsOf(known, question)) }).toEqual({ question, ...want });
        }
      },
    ),
    { numRuns: 60 },
  );
  // The columns were used, and they knew all fields.
  expect(CountingSource.fronts - CountingSource.linesBehind).toBeGreaterThan(bySuite({ fast: 10, full: 50 }));
});

type Given = string | Partial<DatedEntry>;

/** One a second, oldest first. */
function secondBySecond(given: readonly Given[]): DatedEntry[] {
  return given.map((one, i) => {
    const some = typeof one === 'string' ? { line: one } : one;
    return { stream: { app: 'a' }, day: DAY, time: i * 1e9, line: '', metadata: {}, ...some };
  });
}

async function linelessFields(given: readonly Given[], question: Asked) {
  const engine = await columnEngine(secondBySecond(given), {
    indexer: everyField({ maxUnknownShare: 1 / 2 }),
    sourceOf: store => new LinelessSource(store),
  });
  const { fields } = await fieldsOf(engine, question);
  return fields.map(
    ({ label, type, parsers, jsonPath, cardinality }) =>
      `${label} ${type} ${cardinality} ${parsers ?? '-'} ${jsonPath?.join('/') ?? '-'}`,
  );
}

const ALL: Asked = { query: '{app="a"}', lineLimit: 100, limit: 1000 };
const TWICE = '{"status":404,"status":405}';
const BROKEN = '{"status":404,';

describe('lines are not read', () => {
  // [what, lines, question, fields]
  test.each<[string, readonly Given[], Partial<Asked>, readonly string[]]>([
    ['JSON', ['{"n":{"k":1},"s":"x"}', '{"s":"y"}'], {}, ['n_k int 1 json n/k', 's string 2 json s']],
    ['logfmt', ['a=1s b=', 'a=2 c'], {}, ['a duration 2 logfmt -']],
    ['words', ['plain words', '"quoted" x=1'], {}, ['x int 1 logfmt -']],
    ['all kinds in a page', ['{"a":true}', 'a=1', 'words'], {}, ['a boolean 2 json,logfmt a']],
    ['a key twice', [TWICE, TWICE], {}, ['status int 1 json status']],
    ['a label of the name', ['app=1 b=2'], {}, ['app_extracted int 1 logfmt -', 'b int 1 logfmt -']],
    ['metadata of the name', [{ line: 'a=1', metadata: { a: 'm' } }], {}, ['a int 2 logfmt -']],
    ['nothing', ['', 'words'], {}, []],
    ['the newest alone', [BROKEN, 'a=1', 'b=2'], { lineLimit: 2 }, ['a int 1 logfmt -', 'b int 1 logfmt -']],
    [
      'a filter on labels',
      [{ line: 'a=1', metadata: { t: 'x' } }, 'b=2'],
      { query: '{app="a"} | t="x"' },
      ['a int 1 logfmt -', 't string 1 - -'],
    ],
    ['as many fields as are wanted', ['a=1 b=2'], { limit: 2 }, ['a int 1 logfmt -', 'b int 1 logfmt -']],
    [
      'the time of the entry',
      Array.from({ length: 3000 }, (_, i) => `{"ts":"2024-01-01T${clockTime(i)}Z"}`),
      { lineLimit: 3000 },
      ['ts string 2996 json ts'],
    ],
  ])('%s', async (_what, lines, question, want) => {
    expect(await linelessFields(lines, { ...ALL, ...question })).toEqual(want);
  });
});

describe('lines are read', () => {
  test.each<[string, readonly Given[], Partial<Asked>]>([
    ['broken JSON', ['a=1', BROKEN], {}],
    ['a name that may be of another field', ['a_extracted=1', 'a=1'], {}],
    ['a key that begins with a brace', ['a= {}=1 b=2'], {}],
    ['a filter on lines', ['a=1'], { query: '{app="a"} |= "a"' }],
    ['a parser', ['a=1'], { query: '{app="a"} | json' }],
    ['more fields than are wanted', ['b=1 a=2'], { limit: 1 }],
    ['too much that is different', Array.from({ length: 1100 }, (_, i) => `words id=${i}x${i}`), {}],
  ])('%s', async (_what, lines, question) => {
    await expect(linelessFields(lines, { ...ALL, ...question })).rejects.toThrow(LINES_READ);
  });
});

describe('lines of merged chunks', () => {
  /** Lines with IDs, so that columns do not know all fields. */
  const lineOf = (i: number) => {
    const id = createHash('md5').update(`${i}`).digest('hex');
    if (i % 3 === 0) return `level=info id=${id} took=${i}ms msg="done ${i}"`;
    const msg = i % 50 === 1 ? 'a \\"b\\"' : 'é done';
    return `{"level":"${i % 7 ? 'info' : 'warn'}","http":{"status":${200 + (i % 3)},"id":"${id}"},"msg":"${msg}"}`;
  };
  const entries = secondBySecond(Array.from({ length: 2000 }, (_, i) => lineOf(i)));
  const parts = { indexer: undefined, sourceOf, chunks: 2 };
  const merged = { ...parts, compression: COMPACTION_COMPRESSION };

  test.each([
    ['by the query', undefined],
    ['by tasks', inlineInvoker],
  ])('have their fields from templates and values, read %s', async (_what, invokerOf) => {
    const plain = await columnEngine(entries, parts);
    const split = await columnEngine(entries, { ...merged, invokerOf });
    for (const question of [ALL, { ...ALL, lineLimit: 2000 }, { ...ALL, limit: 3 }]) {
      expect(await fieldsOf(split, question)).toEqual(await fieldsOf(plain, question));
    }
    const [{ entries: found }] = await entriesOf(split, { ...ALL, lineLimit: 2000 })(EVERY_FIELD);
    const lines = found.filter(({ form }) => form === undefined).map(({ line }) => line);
    // Only lines with an escape are joined.
    expect(lines).toEqual(lines.filter(line => line.includes('\\"')));
    expect(lines.length).toBeLessThan(50);
  });
});

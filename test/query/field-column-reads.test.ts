/** Which queries read the lines of pages with field columns, and that results match the pushed entries. */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { ColumnKind, isOfLines } from '../../shared/storage/chunk/format.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { chunksOf } from '../support/chunks-of.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

const ROWS = 3000;
const LEVELS = ['info', 'info', 'info', 'warn', 'error'];

const statusOf = (i: number) => (i % 100 === 7 ? 500 : 200);
const durationOf = (i: number) => (i * 7919) % 1000;

/** Three streams: sound JSON, logfmt, and JSON in which one line in a hundred is broken. */
function entries(): DatedEntry[] {
  // Words, so that the lines are not split.
  const rest = (i: number) =>
    `request ${((i * 2_654_435_761) % 4_294_967_296).toString(36)} of a client, answered in time`;
  return ['api', 'shop', 'torn'].flatMap(app =>
    Array.from({ length: ROWS }, (_, i) => {
      const level = LEVELS[i % LEVELS.length];
      const json = `{"level":"${level}","status":${statusOf(i)},"ms":${durationOf(i)},"msg":"${rest(i)}"}`;
      const logfmt = `level=${level} status=${statusOf(i)} took=${durationOf(i)}ms msg="${rest(i)}"`;
      const line = app === 'shop' ? logfmt : app === 'torn' && i % 100 === 50 ? json.slice(0, 20) : json;
      return { stream: { app }, day: DAY, time: (i + 1) * 1e9, line, metadata: {} };
    }),
  );
}

async function compactedStore() {
  const clock = virtualClock((DAY + 3) * 86_400_000);
  const ids = seededIds(1);
  const store = memoryObjectStore();
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  const all = entries();
  // Parts that are too small for field columns.
  for (let part = 0; part < 8; part++) {
    await clock.run(committer.commit('t', pushOf(all.filter((_, i) => i % 8 === part))));
  }
  const work = { targetBytes: 100_000_000, inlineMaxBytes: 0, graceMs: 1000 };
  const compactor = new Compactor({ catalog, store, clock, ids, options: work });
  const bounds = { untilMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
  await compactor.compactDay({ tenant: 't', day: DAY, force: true, ...bounds });
  const source = new ChunkSource(store);
  const records = await chunksOf(catalog, 't', DAY_START_NS, DAY_START_NS + 24n * NS_PER_HOUR - 1n);
  const footers = await Promise.all(records.map(record => source.footer(record)));
  const linesOf = (app: string): number => {
    let bytes = 0;
    for (const { pages, streams } of footers) {
      for (const { runs, columns } of pages) {
        if (!runs.some(({ stream }) => streams[stream].text.includes(`"${app}"`))) continue;
        for (const { kind, block } of columns) if (isOfLines(kind)) bytes += block.storedBytes;
      }
    }
    return bytes;
  };
  return { engine: new QueryEngine({ catalog, source, clock }), linesOf, footers };
}

const stored = compactedStore();

async function ask(query: string) {
  const { engine } = await stored;
  const span = { startNs: DAY_START_NS, endNs: DAY_START_NS + NS_PER_HOUR, stepNs: NS_PER_HOUR, limit: 5000 };
  return engine.range(rangeQuery(query, span), requester());
}

test('compaction creates field columns', async () => {
  const { footers } = await stored;
  const names = footers.flatMap(({ pages }) =>
    pages.flatMap(({ columns }) => columns.filter(({ kind }) => kind === ColumnKind.field)),
  );
  expect(new Set(names.map(({ name }) => name))).toEqual(
    new Set(['jlevel', 'jstatus', 'jms', 'llevel', 'lstatus', 'ltook']),
  );
});

const FEW = ROWS / 100;
const spared: [app: string, query: string][] = [
  ['api', 'sum by (status) (count_over_time({app="api"} | json [1h]))'],
  ['api', 'sum by (status) (count_over_time({app="api"} | json | level="error" [1h]))'],
  ['api', 'sum by (app) (count_over_time({app="api"} | json | status >= 500 [1h]))'],
  // The query uses no field: a column only shows that the lines parse without errors.
  ['api', 'sum by (app) (count_over_time({app="api"} | json [1h]))'],
  ['api', 'sum by (app) (count_over_time({app="api"} | json | __error__="" [1h]))'],
  ['api', 'sum by (level) (bytes_over_time({app="api"} | json | ms > 500 [1h]))'],
  ['api', 'quantile_over_time(0.9, {app="api"} | json | unwrap ms [1h]) by (level)'],
  ['api', 'sum by (s) (count_over_time({app="api"} | json s="status" [1h]))'],
  ['shop', 'avg_over_time({app="shop"} | logfmt | unwrap duration_seconds(took) [1h]) by (app)'],
  ['shop', 'sum by (level) (count_over_time({app="shop"} | logfmt --strict | took > 500ms [1h]))'],
  // No remaining row needs its line, although the bounds of the columns do not show that.
  ['api', '{app="api"} |= "request" | json | ms > 400 | ms < 300'],
  ['shop', '{app="shop"} | logfmt | level="none"'],
];
const read: [app: string, query: string][] = [
  ['api', '{app="api"} | json | status >= 500'],
  ['api', 'sum by (level) (count_over_time({app="api"} | json | msg=~"request 1.*" [1h]))'],
  ['api', 'sum by (status) (count_over_time({app="api"} |= "request" | json [1h]))'],
  ['api', 'sum(count_over_time({app="api"} | json | line_format "{{.level}}" |= "error" [1h]))'],
  ['api', 'sum by (status) (count_over_time({app="api"} | logfmt [1h]))'],
  ['torn', 'sum by (status) (count_over_time({app="torn"} | json | __error__="" [1h]))'],
];

describe('queries that do not read lines', () => {
  test.each(spared)('%s: %s', async (app, query) => {
    const { linesOf } = await stored;
    const { statistics } = await ask(query);
    expect(statistics.pagesRead).toBeGreaterThan(0);
    expect(statistics.compressedBytes).toBeLessThan(linesOf(app) / 2);
  });
});

describe('queries that read lines', () => {
  test.each(read)('%s: %s', async (app, query) => {
    const { linesOf } = await stored;
    const { statistics } = await ask(query);
    expect(statistics.compressedBytes).toBeGreaterThan(linesOf(app));
  });
});

async function totals(query: string): Promise<Record<string, number>> {
  const { result } = await ask(query);
  if (result.kind !== 'matrix') throw new TypeError(result.kind);
  return Object.fromEntries(
    result.series.map(({ labels, values }) => [labels.map(({ value }) => value).join(), values.at(-1)!]),
  );
}

test('results equal those from the lines', async () => {
  const range = Array.from({ length: ROWS }, (_, i) => i);
  expect(await totals('sum by (status) (count_over_time({app="api"} | json [1h]))')).toEqual({
    200: ROWS - FEW,
    500: FEW,
  });
  expect(await totals('sum by (level) (count_over_time({app="shop"} | logfmt | took > 500ms [1h]))')).toEqual(
    Object.fromEntries(
      ['info', 'warn', 'error'].map(level => [
        level,
        range.filter(i => LEVELS[i % LEVELS.length] === level && durationOf(i) > 500).length,
      ]),
    ),
  );
  expect(await totals('sum by (app) (sum_over_time({app="api"} | json | unwrap ms [1h]))')).toEqual({
    api: range.reduce((sum, i) => sum + durationOf(i), 0),
  });
  // Rows missing in the columns are parsed, next to rows that the columns have.
  expect(await totals('sum by (status) (count_over_time({app="torn"} | json | __error__="" [1h]))')).toEqual({
    200: ROWS - FEW - ROWS / 100,
    500: FEW,
  });
  await expect(ask('sum by (status) (count_over_time({app="torn"} | json [1h]))')).rejects.toThrow(
    'JSONParserErr',
  );
  // No label of the line is wanted, and still a broken line fails.
  await expect(ask('sum by (app) (count_over_time({app="torn"} | json [1h]))')).rejects.toThrow(
    'JSONParserErr',
  );
  const { result } = await ask('{app="api"} | json | status >= 500');
  if (result.kind !== 'streams') throw new TypeError(result.kind);
  expect(result.streams.flatMap(({ entries: found }) => found)).toHaveLength(FEW);
});

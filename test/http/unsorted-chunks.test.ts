/**
 * Readers of chunks with pages in no order: what they return equals a model in memory, and what they return of the same pushes
 * without a merge.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { decodeColumns } from '../../shared/server/open-data/entry-columns.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import { ColumnKind, FORMAT_VERSION } from '../../shared/storage/chunk/format.ts';
import { withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';
import { type TestProcess, testStores } from '../maintenance/store.ts';
import {
  DAY,
  FROM_NS,
  fillDay,
  HEADERS,
  inOrder,
  keyOf,
  type PushedEntry,
  pushEntries,
  pushesOf,
  TENANT,
  TO_NS,
} from '../support/unsorted-day.ts';

const PUSHES = pushesOf(1);
const ALL = inOrder(PUSHES);
const EVERYTHING = '{app=~".+"}';

const limits = { ...DEFAULT_CONFIG.limits, discoverLogLevels: true, maxQuerySeries: 5000 };
const newStores = () => testStores({}, { patternIngester: { enabled: true }, limits });
const [plainStores, mergedStores] = [newStores(), newStores()];
const plain = plainStores.process(1);
const merged = mergedStores.process(1);

beforeAll(async () => {
  for (const push of PUSHES) {
    await pushEntries(plain, push);
    await plainStores.clock.advance(1000);
  }
  expect(await fillDay(merged, mergedStores, PUSHES)).toBeGreaterThanOrEqual(6);
});

type Given = Readonly<Record<string, string | number | bigint>>;

async function get({ ask }: TestProcess, path: string, given: Given) {
  const pairs = Object.entries(given).map(([name, value]): [string, string] => [name, `${value}`]);
  const { status, body, headers } = await ask('GET', path, {
    headers: HEADERS,
    rawQuery: `${new URLSearchParams(pairs)}`,
  });
  const bytes = Buffer.from(body);
  return { status, headers, bytes, text: bytes.toString() };
}

/** An export with as many requests as it takes. Returns the parts. */
async function exported(process: TestProcess, format: string, bytes: number, query = EVERYTHING) {
  const parts: Buffer[] = [];
  for (let start: string | undefined = `${FROM_NS}`; start !== undefined; ) {
    const given = { query, format, bytes, start, end: TO_NS };
    const { status, headers, bytes: part } = await get(process, '/svc/api/v1/export', given);
    expect(status).toBe(200);
    parts.push(part);
    const next: string | undefined = headers['x-logboom-next'];
    if (next !== undefined) expect(BigInt(next)).toBeGreaterThan(BigInt(start));
    start = next;
  }
  return parts;
}

function parsed(line: string): PushedEntry {
  const { timestamp, labels, metadata, line: text } = JSON.parse(line);
  const { detected_level: _, ...own } = metadata;
  const [seconds, ns] = timestamp.slice(0, -1).split('.');
  const timeNs = BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(ns.padEnd(9, '0'));
  return { labels, timeNs, line: text, metadata: own };
}

test('the merged chunk has copied pages of each syntax, in no order', async () => {
  const { records } = (await merged.catalog.day(TENANT, DAY))!;
  expect(records).toHaveLength(1);
  const { version, pages, streams } = await readFooter(mergedStores.store, records[0]);
  expect(version).toBe(FORMAT_VERSION);
  const apps = new Set(
    pages.map(({ runs }) =>
      [...new Set(runs.map(({ stream }) => streams[stream].text.split('"')[1]))].join(' '),
    ),
  );
  // Streams of each syntax share pages with no others.
  for (const app of ['json', 'logfmt']) expect([...apps].some(each => each === app)).toBe(true);
  const kinds = pages.map(page => new Set(withDecodedColumns(page).columns.map(({ kind }) => kind)));
  for (const kind of [ColumnKind.splitField, ColumnKind.field, ColumnKind.splitLines, ColumnKind.lines])
    expect(kinds.some(ofPage => ofPage.has(kind))).toBe(true);
  // Small streams are together.
  expect(Math.max(...pages.map(({ runs }) => runs.length))).toBeGreaterThan(20);
});

describe('an export', () => {
  test.each([15_000, 90_000, 1e7])(
    'as JSON lines has every entry in order, with %i bytes for a response',
    async bytes => {
      const lines = (await exported(merged, 'jsonl', bytes)).join('').split('\n').slice(0, -1);
      expect(lines.map(line => keyOf(parsed(line)))).toEqual(ALL.map(keyOf));
    },
  );

  test.each([15_000, 1e7])('as text is the lines, with %i bytes for a response', async bytes => {
    const want = ALL.map(({ line }) => `${line}\n`).join('');
    expect((await exported(merged, 'text', bytes)).join('')).toBe(want);
  });

  test.each(['jsonl', 'csv', 'text'])(
    'as %s equals one of pushes, filtered and changed lines too',
    async format => {
      for (const query of [
        EVERYTHING,
        '{app=~"json|mixed"} |= "u-3"',
        '{app="odd"}',
        '{app=~".+"} | json | n > 40 | line_format "{{.app}} {{.n}}"',
      ]) {
        const [want, found] = [
          await exported(plain, format, 1e7, query),
          await exported(merged, format, 1e7, query),
        ];
        expect([query, found]).toEqual([query, want]);
      }
    },
  );
});

test.each([15_000, 1e7])(
  'an export as columns has every entry in order, with %i bytes for a response',
  async bytes => {
    const found = (await exported(merged, 'columns', bytes)).flatMap(part => {
      const { dayStartNs, sets, times, labels, ends, lines } = decodeColumns(part);
      return Array.from(times, (time, i): PushedEntry => {
        const { detected_level: _, ...metadata } = sets[labels[i]].metadata;
        const line = lines.toString('utf8', i === 0 ? 0 : ends[i - 1] + 1, ends[i]);
        return { labels: sets[labels[i]].labels, timeNs: dayStartNs + BigInt(time), line, metadata };
      });
    });
    expect(found.map(keyOf)).toEqual(ALL.map(keyOf));
  },
);

interface LogResult {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: readonly [string, string][];
}

describe('a log query', () => {
  test.each(['forward', 'backward'])('%s: a limit cuts at each number of entries', async direction => {
    const ordered = inOrder(PUSHES);
    // Entries of a stream are reversed backward, and streams of one timestamp stay in their order.
    const all = direction === 'forward' ? ordered : byStreamBackward(ordered);
    for (const limit of [1, 2, 3, 10, 33, 100, 333, 1000, 5000]) {
      const given = { query: EVERYTHING, direction, limit, start: FROM_NS, end: TO_NS };
      const { status, text } = await get(merged, '/loki/api/v1/query_range', given);
      expect(status).toBe(200);
      const { result } = JSON.parse(text).data as { result: LogResult[] };
      const found = result.flatMap(({ stream: { app, pod }, values }) =>
        values.map(([ns, line]) => `${app} ${pod} ${ns} ${line}`),
      );
      const want = all
        .slice(0, limit)
        .map(({ labels: { app, pod }, timeNs, line }) => `${app} ${pod} ${timeNs} ${line}`);
      expect([limit, found.toSorted()]).toEqual([limit, want.toSorted()]);
      // Within a stream, in the order of the direction. Entries with other metadata are other streams.
      for (const { values } of result) {
        const times = values.map(([ns]) => BigInt(ns));
        const sorted = times.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect(times).toEqual(direction === 'forward' ? sorted : sorted.reverse());
      }
    }
  });
});

/** Later first; of one timestamp, streams ascend by hash and their entries are reversed. */
function byStreamBackward(ordered: readonly PushedEntry[]): PushedEntry[] {
  const groups: PushedEntry[][] = [];
  for (const entry of ordered) {
    const last = groups.at(-1)?.[0];
    const isSame =
      last?.timeNs === entry.timeNs && JSON.stringify(last.labels) === JSON.stringify(entry.labels);
    if (isSame) groups.at(-1)!.push(entry);
    else groups.push([entry]);
  }
  return groups
    .map((group, i) => ({ group: group.toReversed(), i }))
    .sort((a, b) =>
      a.group[0].timeNs === b.group[0].timeNs ? a.i - b.i : a.group[0].timeNs < b.group[0].timeNs ? 1 : -1,
    )
    .flatMap(({ group }) => group);
}

const METRIC_QUERIES = [
  'sum by (app, detected_level) (count_over_time({app=~".+"}[10s]))',
  'sum by (app, pod) (bytes_over_time({app=~".+"}[7s]))',
  'sum by (app) (rate({app=~".+"}[1m]))',
  'topk(3, sum by (user) (count_over_time({app=~".+"} | json | user != "" [20s])))',
];
const whole = { start: FROM_NS, end: TO_NS };
/** Begins and ends within pages, at timestamps of entries. */
const part = { start: FROM_NS + 37n * NS_PER_SECOND, end: FROM_NS + 71n * NS_PER_SECOND };
const REQUESTS: readonly (readonly [path: string, given: Given])[] = [
  // Whole buckets: those of a chunk are counted whole at the ends of a range.
  ...['.+', 'json', 'logfmt', 'text', 'stack', 'odd', 'long', 'mixed', 'tiny'].map(
    app => ['patterns', { query: `{app=~"${app}"}`, step: 10, ...whole }] as const,
  ),
  ...[whole, part].flatMap(range =>
    [
      ['detected_labels', {}] as const,
      ['detected_labels', { query: '{app="json"}' }] as const,
      ...['json', 'logfmt', 'mixed|odd', '.+'].map(
        app => ['detected_fields', { query: `{app=~"${app}"}`, line_limit: 5000 }] as const,
      ),
      ['detected_field/user/values', { query: '{app=~"json|logfmt"}', line_limit: 5000 }] as const,
      ['labels', {}] as const,
      ['label/pod/values', { query: '{app="json"}' }] as const,
      ['label/pod/values', {}] as const,
      ['series', { 'match[]': '{app=~"json|mixed|odd"}' }] as const,
      ...METRIC_QUERIES.map(query => ['query_range', { query, step: 10 }] as const),
    ].map(([path, given]) => [path, { ...given, ...range }] as const),
  ),
];

async function answer(process: TestProcess, path: string, given: Given): Promise<unknown> {
  const { status, text } = await get(process, `/loki/api/v1/${path}`, given);
  if (status !== 200) return { status, text };
  const answered = JSON.parse(text);
  // Figures of the work.
  delete answered.data?.stats;
  const data = answered.data?.result ?? answered.data;
  return Array.isArray(data) ? data.map(one => JSON.stringify(one)).sort() : answered;
}

test.each(REQUESTS)('%s %j answers what it answers of pushes', async (path, given) => {
  const want = await answer(plain, path, given);
  expect(want).not.toMatchObject({ status: expect.anything(), text: expect.anything() });
  expect(await answer(merged, path, given)).toEqual(want);
});

test('statistics and volumes are those of the entries', async () => {
  const { text } = await get(merged, '/loki/api/v1/index/stats', { query: EVERYTHING, ...whole });
  const { bytes, entries, streams } = JSON.parse(text);
  expect(entries).toBe(ALL.length);
  expect(streams).toBe(new Set(ALL.map(({ labels }) => JSON.stringify(labels))).size);
  const given = { query: EVERYTHING, targetLabels: 'app', limit: 100, ...whole };
  const volume = await get(merged, '/loki/api/v1/index/volume', given);
  const { result } = JSON.parse(volume.text).data as { result: { value: [number, string] }[] };
  // Volumes are without the name of the level, which each entry has.
  const want = bytes - ALL.length * 'detected_level'.length;
  expect(result.reduce((sum, { value }) => sum + Number(value[1]), 0)).toBe(want);
});

/**
 * `logboom migrate loki` from a source that answers as the reference was recorded to answer: its streams, its
 * entries with structured metadata apart, its limit of entries in one answer, and its counts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Matcher } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { loadCases } from '../conformance/recorded.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { type Recorded, type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';
import { logboom } from './run-command.ts';

type Labels = Readonly<Record<string, string>>;
type Values = readonly (readonly [string, string])[];

interface Entry {
  readonly stream: Labels;
  readonly metadata: Labels;
  readonly ns: bigint;
  readonly line: string;
}

/** Cases that together have every entry of these selectors. Each answer is below its limit. */
const CASES = ['selector#1', 'selector#7'];
const SELECTORS = ['{app="api"}', '{level="", app=~".+"}'];
/** Default of the reference. */
const MAX_ENTRIES = 5000;

const streams = recordedStreams();
const entries = recordedEntries();
const folder = mkdtempSync(join(tmpdir(), 'logboom-migrate-recorded-'));
let source: RecordingStore;
let target: TestStore;

beforeAll(async () => {
  source = await startRecordingStore(answerTo);
  target = await startStore('auth_enabled: true\nlimits_config: {reject_old_samples: false}\n');
});

afterAll(async () => {
  await source?.stop();
  await target?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('copies streams, entries, structured metadata and times of the recorded reference', async () => {
  const [startNs, endNs] = rangeOf(entries);
  const range = ['--start', `${startNs}`, '--end', `${endNs}`];
  const selectors = SELECTORS.flatMap(selector => ['--selector', selector]);
  const outcome = await logboom([
    'migrate',
    'loki',
    '--from',
    source.url,
    '--addr',
    target.url,
    '--tenants',
    'recorded=copy',
    // Several requests for each hour.
    '--batch',
    '50',
    '--state',
    join(folder, 'state.jsonl'),
    ...selectors,
    ...range,
  ]);
  expect([outcome.code, outcome.stdout]).toEqual([
    0,
    `copied ${entries.length} entries of tenant copy; all counts agree\n`,
  ]);
  const exported = await logboom([
    'export',
    '{service_name=~".+"}',
    '--addr',
    target.url,
    '--tenant',
    'copy',
    '--format',
    'jsonl',
    '--from',
    `${startNs}`,
    '--to',
    `${endNs}`,
  ]);
  const copied = exported.stdout
    .trimEnd()
    .split('\n')
    .map(text => keyOf(JSON.parse(text)));
  const recorded = entries.map(({ stream: labels, metadata, ns, line }) =>
    keyOf({ timestamp: isoOf(ns), labels, metadata, line }),
  );
  expect(copied.sort()).toEqual(recorded.sort());
  expect(new Set(source.requests.map(({ headers }) => headers['x-scope-orgid']))).toEqual(
    new Set(['recorded']),
  );
});

function recordedStreams(): readonly Labels[] {
  const all = loadCases().filter(
    ({ path, query, status }) =>
      path.endsWith('/series') && status === 200 && query !== null && Object.keys(query).length === 2,
  );
  return (all[0].body as { data: readonly Labels[] }).data;
}

/** Structured metadata is what an entry has beyond the labels of its stream. */
function recordedEntries(): readonly Entry[] {
  const found = new Map<string, Entry>();
  for (const { id, body } of loadCases()) {
    if (!CASES.includes(id)) continue;
    const { result } = (body as { data: { result: { stream: Labels; values: Values }[] } }).data;
    for (const { stream: labels, values } of result) {
      const stream = streams
        .filter(each => Object.entries(each).every(([name, value]) => labels[name] === value))
        .sort((a, b) => Object.keys(b).length - Object.keys(a).length)[0];
      const own = Object.entries(labels).filter(([name]) => !Object.hasOwn(stream, name));
      for (const [ns, line] of values) {
        const entry = { stream, metadata: Object.fromEntries(own), ns: BigInt(ns), line };
        found.set(keyOf({ timestamp: ns, labels: stream, metadata: entry.metadata, line }), entry);
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.ns < b.ns ? -1 : 1));
}

function rangeOf(all: readonly Entry[]): [bigint, bigint] {
  return [all[0].ns, all[all.length - 1].ns + 1n];
}

function isoOf(ns: bigint): string {
  const fraction = String(ns % 1_000_000_000n).padStart(9, '0');
  return `${new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19)}.${fraction}Z`;
}

function keyOf({
  timestamp,
  labels,
  metadata,
  line,
}: {
  timestamp: string;
  labels: Labels;
  metadata: Labels;
  line: string;
}) {
  const sorted = (each: Labels) => Object.entries(each).sort();
  return JSON.stringify([timestamp, sorted(labels), sorted(metadata), line]);
}

function answerTo({ path, params, headers }: Recorded): Reply {
  const data = (body: object) => ({ status: 200, body: JSON.stringify({ status: 'success', data: body }) });
  if (path === '/loki/api/v1/series') {
    const selected = selectorOf(params.get('match[]') ?? '{service_name=~".+"}');
    return data(streams.filter(selected));
  }
  const query = params.get('query') ?? '';
  if (path === '/loki/api/v1/query') return data({ resultType: 'vector', result: countsOf(query, params) });
  if (path !== '/loki/api/v1/query_range') return { status: 404, body: '404 page not found' };
  expect(headers['x-loki-response-encoding-flags']).toBe('categorize-labels');
  const limit = Number(params.get('limit'));
  if (limit > MAX_ENTRIES)
    return {
      status: 400,
      body: `max entries limit per query exceeded, limit > max_entries_limit (${limit} > 5000)`,
    };
  const selected = selectorOf(query);
  const [startNs, endNs] = ['start', 'end'].map(name => BigInt(params.get(name) ?? ''));
  const isForward = params.get('direction') === 'forward';
  const found = entries.filter(({ stream, ns }) => ns >= startNs && ns < endNs && selected(stream));
  const page = (isForward ? found : found.toReversed()).slice(0, limit);
  const grouped = Map.groupBy(page, ({ stream }) => stream);
  const result = [...grouped].map(([stream, of]) => ({
    stream,
    values: of.map(({ ns, line, metadata }) => [`${ns}`, line, { structuredMetadata: metadata }]),
  }));
  return data({ resultType: 'streams', encodingFlags: ['categorize-labels'], result });
}

function selectorOf(text: string): (stream: Labels) => boolean {
  const expr = parseQuery(text);
  if (expr.kind !== 'log') throw new Error(`${text} is not a selector`);
  return stream => expr.selector.every(matcher => matches(matcher, stream[matcher.name] ?? ''));
}

function matches({ op, value }: Matcher, text: string): boolean {
  if (op === '=') return text === value;
  if (op === '!=') return text !== value;
  return new RegExp(`^(?:${value})$`).test(text) === (op === '=~');
}

/** A range is open at its start and closed at its end. */
function countsOf(query: string, params: URLSearchParams): object[] {
  const parts = /^sum by \((.*)\) \(count_over_time\((\{.*\})\[(\d+)ms\]\)\)$/.exec(query);
  if (parts === null) throw new Error(`unexpected count: ${query}`);
  const names = parts[1].split(', ');
  const selected = selectorOf(parts[2]);
  const timeNs = BigInt(params.get('time') ?? '');
  const startNs = timeNs - BigInt(parts[3]) * 1_000_000n;
  const counted = entries.filter(({ stream, ns }) => ns > startNs && ns <= timeNs && selected(stream));
  const groups = Map.groupBy(counted, ({ stream }) =>
    JSON.stringify(
      Object.fromEntries(names.flatMap(name => (stream[name] === undefined ? [] : [[name, stream[name]]]))),
    ),
  );
  return [...groups].map(([metric, of]) => ({
    metric: JSON.parse(metric),
    value: [Number(timeNs / 1_000_000n) / 1000, `${of.length}`],
  }));
}

/**
 * Memory cost of labels with a million values: one day of a tenant whose label `id` has a million values, in
 * ten chunks and an index, on disk. Each endpoint is queried by a separate process, so that creating the day
 * does not count. A process with a small query is the baseline. Creating the day takes a minute of CPU.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage } from '../local/storage.ts';
import { BadRequestError } from '../shared/base/model/errors.ts';
import { NS_PER_DAY } from '../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import type { Matcher } from '../shared/language/logql/ast.ts';
import { parseSelector } from '../shared/language/logql/parse.ts';
import { ChunkSource } from '../shared/read/query/chunk-source.ts';
import { findStreams, LabelValues, visitStreams } from '../shared/read/query/streams-query.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { storeChunk } from '../shared/storage/catalog/chunk-object.ts';
import { writeChunk } from '../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../shared/storage/codec/compression.ts';
import { DayIndexes } from '../shared/storage/index/day-indexes.ts';
import { Syncer } from '../shared/storage/index/syncer.ts';
import { rowsOf } from '../test/support/rows.ts';
import { type Cell, formatTable } from './table.ts';

const DAY = 20_000;
const CHUNKS = 10;
const VALUES_PER_CHUNK = 100_000;
const MB = 1e6;
const TENANT = 't';

interface LabelMemory {
  readonly asked: string;
  /** Result: a number of values or series, or the error. */
  readonly answer: string;
  readonly rssBeforeMb: number;
  /** Peak during the query. */
  readonly rssPeakMb: number;
}

type SendQuery = (dataDir: string) => Promise<string>;

const QUESTIONS: ReadonlyMap<string, SendQuery> = new Map([
  ['values of app', values('app', [])],
  ['values of id', values('id', [])],
  ['values of id, {app="a"}', values('id', parseSelector('{app="a"}'))],
  ['values of id, {id=~"request-77..."}', values('id', parseSelector('{id=~"request-77..."}'))],
  ['series', series('{app="a"}')],
  ['series, {id=~"request-77..."}', series('{id=~"request-77..."}')],
]);

const range = { startNs: BigInt(DAY) * NS_PER_DAY, endNs: BigInt(DAY + 1) * NS_PER_DAY };

function values(name: string, matchers: readonly Matcher[]): SendQuery {
  return async dataDir => {
    const found = new LabelValues(name);
    const selectors = matchers.length === 0 ? [] : [matchers];
    const { catalog, source, indexes } = await opened(dataDir);
    const signal = new AbortController().signal;
    await visitStreams(catalog, source, { tenants: [TENANT], range, selectors, signal }, indexes, found.add);
    return `${found.list().length} values`;
  };
}

function series(selector: string): SendQuery {
  return async dataDir => {
    const { catalog, source, indexes } = await opened(dataDir);
    const selectors = [parseSelector(selector)];
    const signal = new AbortController().signal;
    const found = await findStreams(
      catalog,
      source,
      { tenants: [TENANT], range, selectors, signal },
      indexes,
    );
    return `${found.length} series`;
  };
}

async function opened(dataDir: string) {
  const { store, table } = await openStorage({ kind: 'embedded', dataDir });
  const onBroken = (error: Error) => {
    throw error;
  };
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  return { store, catalog, source: new ChunkSource(store), indexes: new DayIndexes({ store, onBroken }) };
}

async function makeDay(dataDir: string): Promise<void> {
  const { store, catalog, indexes } = await opened(dataDir);
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const rows = rowsOf(
      Array.from({ length: VALUES_PER_CHUNK }, (_, i) => ({
        stream: { app: 'a', id: `request-${chunk * VALUES_PER_CHUNK + i}` },
        time: 1 + i * 1e6,
        line: 'x',
        metadata: {},
      })),
    );
    const id = SYSTEM_IDS.randomHex(16);
    const head = { id, tenant: TENANT, day: DAY, level: 1, createdMs: 1, inputs: [] };
    const written = await writeChunk(head, rows, QUICK_COMPRESSION);
    await catalog.addChunks([await storeChunk(store, written, 0)]);
    process.stderr.write('+');
  }
  const syncer = new Syncer({ catalog, store, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, indexes, graceMs: 1 });
  const signal = new AbortController().signal;
  await syncer.syncDay({ tenant: TENANT, day: DAY, force: true, untilMs: Infinity, signal });
  process.stderr.write('\n');
}

export async function runLabelMemory(): Promise<LabelMemory[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-labels-'));
  try {
    child(['make', dataDir]);
    return [...QUESTIONS.keys()].map(asked => JSON.parse(child(['ask', dataDir, asked])) as LabelMemory);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Runs this file in a child process; returns its output. */
function child(args: readonly string[]): string {
  const flags = [...process.execArgv, import.meta.filename, ...args];
  return execFileSync(process.execPath, flags, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

async function measure(dataDir: string, asked: string): Promise<LabelMemory> {
  const rssBeforeMb = process.memoryUsage().rss / MB;
  let answer: string;
  try {
    answer = await QUESTIONS.get(asked)!(dataDir);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    answer = error.message;
  }
  return { asked, answer, rssBeforeMb, rssPeakMb: (process.resourceUsage().maxRSS * 1024) / MB };
}

export function labelMemoryTable(figures: readonly LabelMemory[]): string {
  const rows = figures.map((one): Cell[] => [one.asked, one.rssBeforeMb, one.rssPeakMb, one.answer]);
  return formatTable(['asked', 'RSS before, MB', 'peak, MB', 'answer'], rows);
}

if (process.argv[1] === import.meta.filename) {
  const [what, dataDir, asked] = process.argv.slice(2);
  if (what === 'make') await makeDay(dataDir);
  else process.stdout.write(JSON.stringify(await measure(dataDir, asked)));
}

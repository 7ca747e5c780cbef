/**
 * CPU cost of the benchmark driver's queries without HTTP. Opens a store's files, runs each query several
 * times in this process, and prints the minimum CPU time. `--profile N` also prints the N functions with the
 * most self time.
 *
 *     node bin/with-runtime.mjs scripts/profile-query.ts --data DIR --meta m.json --suite DRIVER/suite.mjs
 *         [--only json_status,regex_ci] [--runs 9] [--tenant bench] [--profile 12] [--page-cache 160]
 *
 * `--page-cache` is in MB, 0 disables it. DIR is the data directory of a stopped store, filled by the driver,
 * which wrote m.json.
 *
 * Pitfall: CPU time counts all threads, including garbage collection. Before comparing times of two source
 * trees, check that the digests of the responses (first column from the right) are equal.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openStorage } from '../local/storage.ts';
import { DEFAULT_LIMITS } from '../shared/base/model/limits.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { parseQuery } from '../shared/language/logql/parse.ts';
import { ChunkSource } from '../shared/read/query/chunk-source.ts';
import { QueryEngine, type QueryResult } from '../shared/read/query/engine.ts';
import { PageCache } from '../shared/read/query/page-cache.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { profiled, selfTimes } from './self-times.ts';

/** Query of the driver's suite, with the fields that this script needs. */
interface SuiteQuery {
  readonly name: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string | number>>;
}

interface QueryCost {
  readonly name: string;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly lines: number;
  readonly digest: string;
}

const { values: flags } = parseArgs({
  options: {
    data: { type: 'string' },
    meta: { type: 'string' },
    suite: { type: 'string' },
    only: { type: 'string' },
    runs: { type: 'string', default: '9' },
    tenant: { type: 'string', default: 'bench' },
    profile: { type: 'string', default: '0' },
    'page-cache': { type: 'string', default: '160' },
    json: { type: 'boolean', default: false },
  },
});
if (flags.data === undefined || flags.meta === undefined || flags.suite === undefined) {
  process.stderr.write(
    'usage: profile-query.ts --data DIR --meta FILE --suite FILE [--only NAMES] [--runs N]\n',
  );
  process.exit(2);
}
const runs = Number(flags.runs);
const shown = Number(flags.profile);
const wanted = flags.only?.split(',');

const { suite } = (await import(resolve(flags.suite))) as { suite(meta: unknown): readonly SuiteQuery[] };
const queries = suite(JSON.parse(readFileSync(flags.meta, 'utf8'))).filter(
  ({ name, params }) => params.query !== undefined && (wanted === undefined || wanted.includes(name)),
);
const storage = await openStorage({ kind: 'embedded', dataDir: flags.data });
const cache = new PageCache(Number(flags['page-cache']) * 1_000_000);
const engine = new QueryEngine({
  catalog: new Catalog({ table: storage.table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS }),
  source: new ChunkSource(storage.store, cache),
  clock: SYSTEM_CLOCK,
});
const requester = {
  tenants: [flags.tenant],
  tenantsKey: flags.tenant,
  limits: {
    ...DEFAULT_LIMITS,
    maxQueryLengthNs: 0n,
    maxQuerySeries: 100_000,
    maxEntriesLimitPerQuery: 100_000,
  },
  signal: new AbortController().signal,
  partial: false,
  tags: '',
};

for (const query of queries) {
  if (!query.path.endsWith('/query_range') && !query.path.endsWith('/query')) continue;
  const cost = await measure(query);
  process.stdout.write(flags.json ? `${JSON.stringify(cost)}\n` : `${textOf(cost)}\n`);
  if (shown === 0) continue;
  const profile = await profiled(async () => {
    for (let i = 0; i < runs; i++) await ask(query);
  });
  (await import('node:fs')).writeFileSync(
    '/tmp/w/h31/' + query.name + '.cpuprofile',
    JSON.stringify(profile),
  );
  for (const { name, ms } of selfTimes(profile).slice(0, shown)) {
    process.stdout.write(`    ${(ms / runs).toFixed(2).padStart(8)} ms  ${name}\n`);
  }
}
await storage.close();

async function measure(query: SuiteQuery): Promise<QueryCost> {
  let cpuMs = Infinity;
  let wallMs = Infinity;
  // Warm-up runs are not counted: they compile and read from disk, and pages are cached from the second run
  // on.
  const { result, statistics } = await ask(query);
  await ask(query);
  for (let i = 0; i < runs; i++) {
    const cpu = process.cpuUsage();
    const started = performance.now();
    await ask(query);
    wallMs = Math.min(wallMs, performance.now() - started);
    const { user, system } = process.cpuUsage(cpu);
    cpuMs = Math.min(cpuMs, (user + system) / 1000);
  }
  return { name: query.name, cpuMs, wallMs, lines: statistics.lines, digest: digestOf(result) };
}

function ask({ path, params }: SuiteQuery) {
  const text = String(params.query);
  const expr = parseQuery(text);
  if (path.endsWith('/query')) return engine.instant({ text, expr, timeNs: BigInt(params.time) }, requester);
  const range = { startNs: BigInt(params.start), endNs: BigInt(params.end) };
  const shape = { limit: Number(params.limit ?? 100), backward: params.direction !== 'forward' };
  const stepNs = BigInt(Number(params.step ?? 60) * 1e9);
  return engine.range(
    { text, expr, ...range, ...shape, stepNs, intervalNs: 0n, categorize: false },
    requester,
  );
}

function digestOf(result: QueryResult): string {
  const text = JSON.stringify(result, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}`;
    return ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
      : value;
  });
  return hash('sha256', text).slice(0, 12);
}

function textOf({ name, cpuMs, wallMs, lines, digest }: QueryCost): string {
  const figures = `${cpuMs.toFixed(1).padStart(8)} ms CPU ${wallMs.toFixed(1).padStart(8)} ms`;
  const perLine = lines === 0 ? '' : `${((cpuMs * 1e6) / lines).toFixed(0)} ns/line`;
  return `${name.padEnd(20)} ${figures} ${String(lines).padStart(9)} lines ${perLine.padStart(12)}  ${digest}`;
}

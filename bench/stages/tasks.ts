/**
 * Query tasks as a worker function runs them: one merged chunk in memory, whose pages are read, checked, decompressed,
 * joined and scanned again in each run. The simulated fleet uses these speeds (test/simulation/fleet/figures.ts). A
 * function also receives the stored bytes over TLS, which is not included.
 */
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import type { Invoker } from '../../shared/base/ports/invoker.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { functionTaskSizes } from '../../shared/read/query/tasks/plan-tasks.ts';
import { QueryWorkers } from '../../shared/read/query/tasks/query-workers.ts';
import { TaskRunner } from '../../shared/read/query/tasks/task-runner.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { DEFAULT_GROUP_COMMIT, GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { pushOf } from '../../test/support/pushes.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches } from '../corpus.ts';
import type { StageCase } from './index.ts';

const MB = 48;
const TENANT = 'bench';
const DAY = Number(CORPUS_START_NS / NS_PER_DAY);
const TARGET_BYTES = 128 * 1024 * 1024;

const QUERIES = [
  'sum(count_over_time({app=~".+"} |= "no such text" [1m]))',
  'sum(count_over_time({app=~".+"} |~ "(?i)UPSTREAM|refused" [1m]))',
  'sum(count_over_time({app=~".+"} |~ "[a-f]{3}[0-9]{2,}x?[a-f]" [1m]))',
  'sum(count_over_time({app=~".+"} | json | status >= 500 [1m]))',
];

const store = { ...memoryObjectStore(), isDistant: true };
const clock = SYSTEM_CLOCK;
const ids = SYSTEM_IDS;
const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });

async function mergedChunks() {
  const options = { ...DEFAULT_GROUP_COMMIT, waitMs: 0 };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  for (const { streams } of generateBatches(MB)) {
    const entries = streams.flatMap(({ labels, entries }) =>
      entries.map(({ ns, line }) => {
        return { stream: labels, day: DAY, time: Number(ns % NS_PER_DAY), line, metadata: {} };
      }),
    );
    await committer.commit(TENANT, pushOf(entries));
  }
  const { signal } = new AbortController();
  const work = { targetBytes: TARGET_BYTES, inlineMaxBytes: 0, graceMs: 0 };
  const compactor = new Compactor({ catalog, store, clock, ids, options: work });
  await compactor.compactDay({ tenant: TENANT, day: DAY, force: true, untilMs: Infinity, signal });
  return (await catalog.day(TENANT, DAY))!.records;
}

interface QueryTasks {
  /** As the query function encodes them. */
  readonly tasks: readonly Uint8Array[];
  /** Stored bytes of pages that they read. */
  readonly readBytes: number;
}

async function tasksOf(query: string): Promise<QueryTasks> {
  const tasks: Uint8Array[] = [];
  const runner = new TaskRunner({ store, clock });
  const invoker: Invoker = {
    slots: 1,
    async invoke(task, { signal }) {
      tasks.push(task);
      return runner.run(task, signal);
    },
    close: async () => undefined,
  };
  const sizes = { ...functionTaskSizes(1), inlineBytes: 0, plannedByWorkersFrom: 0 };
  const workers = new QueryWorkers(invoker, { sizes });
  const engine = new QueryEngine({ catalog, source: new ChunkSource(store), clock, workers });
  const range = { startNs: CORPUS_START_NS, endNs: CORPUS_START_NS + CORPUS_NS };
  const shape = { limit: 100, backward: true, stepNs: 60_000_000_000n, intervalNs: 0n, categorize: false };
  const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n };
  const { signal } = new AbortController();
  const asker = { tenants: [TENANT], tenantsKey: TENANT, limits, signal, partial: false, tags: '' };
  const asked = { text: query, expr: parseQuery(query), ...range, ...shape };
  const { statistics } = await engine.range(asked, asker);
  return { tasks, readBytes: statistics.compressedBytes };
}

const records = await mergedChunks();
const bytes = records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
const lines = records.reduce((sum, { rows }) => sum + rows, 0);

export const cases: StageCase[] = [];
for (const query of QUERIES) {
  const { tasks, readBytes } = await tasksOf(query);
  const name = `${query}, reads ${(readBytes / bytes).toFixed(3)} of the lines' size`;
  cases.push({
    name,
    bytes,
    lines,
    async run() {
      const runner = new TaskRunner({ store, clock });
      const { signal } = new AbortController();
      for (const task of tasks) await runner.run(task, signal);
    },
  });
}

/**
 * `npm run bench -- deletion`: cost of deleting one user's lines, 0.01% of all, spread everywhere. Runs in
 * memory, so the figures are for processing chunks and not for a disk: bytes considered, read and rewritten.
 */

import { performance } from 'node:perf_hooks';
import { formatLabels, labelsOf } from '../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../shared/base/model/limits.ts';
import { MS_PER_DAY, NS_PER_DAY } from '../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../shared/base/ports/memory/table.ts';
import { SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { NOT_BEGUN } from '../shared/storage/catalog/delete-request.ts';
import { QUICK_COMPRESSION } from '../shared/storage/codec/compression.ts';
import { Compactor } from '../shared/upkeep/compaction/compactor.ts';
import { noRewrites } from '../shared/upkeep/compaction/day-rewriter.ts';
import { MergeDrops } from '../shared/upkeep/deletion/merge-drops.ts';
import { TenantDeletion } from '../shared/upkeep/deletion/tenant-deletion.ts';
import { GroupCommitter } from '../shared/write/ingest/group-commit.ts';
import { type AcceptedPush, PushColumns } from '../shared/write/ingest/push-columns.ts';
import { manualClock } from '../test/support/manual-clock.ts';
import { type Batch, CORPUS_START_NS, generateBatches } from './corpus.ts';

interface DeletionMeasurement {
  readonly lineBytes: number;
  readonly lines: number;
  readonly storedBytes: number;
  readonly chunks: number;
  readonly deletedLines: number;
  readonly lookedBytes: number;
  readonly readBytes: number;
  readonly rewrittenBytes: number;
  readonly outputBytes: number;
  readonly pagesCopied: number;
  readonly pagesEncoded: number;
  readonly copiedBytes: number;
  readonly encodedBytes: number;
  /** CPU time of the process during the scan and rewrite. */
  readonly cpuSeconds: number;
  readonly seconds: number;
}

const TENANT = 't';
const USER = 'user=heidi-4711';
/** One in this many lines is the user's. */
const ONE_IN = 10_000;
const GIB = 1024 ** 3;

export async function runDeletion(mb: number): Promise<DeletionMeasurement> {
  const day = Number(CORPUS_START_NS / NS_PER_DAY);
  const clock = manualClock((day + 2) * MS_PER_DAY);
  const store = memoryObjectStore();
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids: SYSTEM_IDS });
  const grouping = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 4096, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids: SYSTEM_IDS, options: grouping });
  const limitsOf = () => DEFAULT_LIMITS;
  const drops = new MergeDrops({ deletes: catalog.deletes, clock, limitsOf, isEnabled: true });
  const options = { targetBytes: 128 * 1024 * 1024, inlineMaxBytes: 4096, graceMs: 1 };
  const rewriter = { catalog, store, clock, ids: SYSTEM_IDS, options, drops };
  const times = { marginMs: 0, maxCommitMs: 0 };
  const of = { catalog, store, clock, rewriter, limitsOf, times, cancelPeriodMs: 0, batchSize: 70 };
  const deletion = new TenantDeletion(of);

  let lines = 0;
  let lineBytes = 0;
  for (const batch of generateBatches(mb)) {
    const push = pushOf(batch, () => ++lines % ONE_IN === 0);
    lineBytes += push.columns.bytes.length;
    await committer.commit(TENANT, push);
  }
  const bounds = { untilMs: clock.nowMs() + GIB, signal: new AbortController().signal };
  await new Compactor(rewriter).compactDay({ tenant: TENANT, day, force: true, ...bounds });
  const before = await catalog.day(TENANT, day);
  const records = before?.records ?? [];
  await catalog.deletes.create({
    id: '00000001',
    tenant: TENANT,
    query: `{app=~".+"} |= "${USER}"`,
    startNs: CORPUS_START_NS,
    endNs: CORPUS_START_NS + NS_PER_DAY,
    intervalNs: 0n,
    createdMs: clock.nowMs(),
    ...NOT_BEGUN,
  });
  const figures = { ...noRewrites(), pickedUp: 0, processed: 0, days: 0, readBytes: 0 };
  const failures: string[] = [];
  await deletion.work(TENANT, bounds, figures, failures);
  clock.advance(10);
  const started = performance.now();
  const cpu = process.cpuUsage();
  await deletion.work(TENANT, bounds, figures, failures);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return {
    lineBytes,
    lines,
    storedBytes: records.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
    chunks: records.length,
    deletedLines: figures.rows,
    lookedBytes: figures.lookedBytes,
    readBytes: figures.readBytes,
    rewrittenBytes: figures.rewrittenBytes,
    outputBytes: figures.outputBytes,
    pagesCopied: figures.pagesCopied,
    pagesEncoded: figures.pagesEncoded,
    copiedBytes: figures.copiedBytes,
    encodedBytes: figures.encodedBytes,
    cpuSeconds: (user + system) / 1e6,
    seconds,
  };
}

/** Lines are in one buffer that is built at once: a tenth of the time of adding them one by one. */
function pushOf({ streams }: Batch, isOfUser: () => boolean): AcceptedPush {
  const texts = streams.map(({ entries }) =>
    entries.map(({ line }) => Buffer.from(isOfUser() ? `${line} ${USER}` : line)),
  );
  const columns = new PushColumns(Buffer.concat(texts.flat()));
  let start = 0;
  let count = 0;
  for (const [index, { labels, entries }] of streams.entries()) {
    const sorted = labelsOf(labels);
    const text = formatLabels(sorted);
    const known = columns.streams.findIndex(stream => stream.text === text);
    const stream = known >= 0 ? known : columns.streams.push({ labels: sorted, text }) - 1;
    for (const [i, { ns }] of entries.entries()) {
      const end = start + texts[index][i].length;
      columns.addEntry(stream, Number(ns / NS_PER_DAY), Number(ns % NS_PER_DAY), start, end);
      start = end;
      count++;
    }
  }
  return {
    columns,
    entries: Uint32Array.from({ length: count }, (_, i) => i),
    lineBytes: start,
    levelOf: new Uint16Array(count),
    levels: [],
  };
}

export function deletionTable(figures: DeletionMeasurement): string {
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    '| deleting 0.01% of the lines, spread everywhere | |',
    '|---|---|',
    `| lines, of them deleted | ${figures.lines}, ${figures.deletedLines} |`,
    `| raw, stored | ${mb(figures.lineBytes)}, ${mb(figures.storedBytes)} in ${figures.chunks} chunks |`,
    `| chunks looked at, bytes read for it | ${mb(figures.lookedBytes)}, ${mb(figures.readBytes)} |`,
    `| rewritten chunks, bytes read and written | ${mb(figures.rewrittenBytes)}, ${mb(figures.outputBytes)} |`,
    `| pages copied as they are | ${figures.pagesCopied}, ${mb(figures.copiedBytes)} |`,
    `| pages encoded again | ${figures.pagesEncoded}, ${mb(figures.encodedBytes)} |`,
    `| time, CPU | ${figures.seconds.toFixed(1)} s, ${figures.cpuSeconds.toFixed(1)} s |`,
  ].join('\n');
}

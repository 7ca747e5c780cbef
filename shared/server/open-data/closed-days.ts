/**
 * Exports closed days of all tenants as Parquet files in Hive folders, in steps that fit into memory and time. A note
 * stores the progress of each tenant, so that the next run continues there:
 *
 *     note: step 2 begins, with its file names  ->  files  ->  note: step 2 is complete  ->  step 3 ...
 *
 * A run that is interrupted between the two notes can leave files of its step. The next run deletes them by their names
 * and repeats the step, so each entry is in one file. Days are exported in time order, each once.
 */
import { labelsToObject } from '../../base/model/labels.ts';
import { MemoryBudget } from '../../base/model/memory-budget.ts';
import { MS_PER_DAY, MS_PER_HOUR, NS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { LabelCategories } from '../../execution/pipeline/label-map.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { type ExportedRows, runExport } from '../../read/query/export-query.ts';
import type { LogSources } from '../../read/query/log-query.ts';
import { MAX_QUERY_MEMORY_BYTES } from '../../read/query/query-memory.ts';
import { newStatistics } from '../../read/query/statistics.ts';
import type { Visibility } from '../../read/query/visibility.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { DayNotes, type OpenDataStore } from './day-notes.ts';
import type { EntryLabels } from './entry-columns.ts';
import { EntryTable } from './entry-table.ts';
import { HivePaths } from './hive-path.ts';
import { parquetFile } from './parquet-file.ts';

export interface ClosedDaysParts {
  readonly catalog: Pick<Catalog, 'tenants' | 'allDays'>;
  readonly sources: LogSources;
  readonly visibility: Pick<Visibility, 'of'>;
  readonly store: OpenDataStore;
  /** Prefix of file keys, without a trailing slash. */
  readonly prefix: string;
  readonly clock: Pick<Clock, 'nowMs' | 'nowNs'>;
  /** Called before each step; false ends the run. May throw. */
  readonly mayGoOn: () => boolean | Promise<boolean>;
  /** Bytes of lines per step. Default: STEP_BYTES, which fits a function. */
  readonly stepBytes?: number;
}

export interface ClosedDaysReport {
  readonly steps: number;
  readonly files: number;
  readonly entries: number;
  /** Number of completed days, summed over tenants. */
  readonly days: number;
  /** False if the next run continues. */
  readonly isDone: boolean;
}

/** Delay after the end of a day. Its merges are complete about an hour after its end. */
const CLOSED_AFTER_MS = 2 * MS_PER_HOUR;
/** Bytes of lines per step: about 500,000 entries and 1 GB of memory. Smaller steps write smaller files, which are slow to read. */
const STEP_BYTES = 128 * 1024 * 1024;
/** Steps per tenant before the next tenant. */
const STEPS_AT_ONCE = 8;
/** Maximum rows and bytes of lines of a file. */
const MAX_FILE_ROWS = 200_000;
const MAX_FILE_BYTES = 64_000_000;

const EVERYTHING: LogExpr = { kind: 'log', selector: [], stages: [] };

export async function exportClosedDays(parts: ClosedDaysParts): Promise<ClosedDaysReport> {
  const report = { steps: 0, files: 0, entries: 0, days: 0 };
  const notes = new DayNotes(parts.store);
  let waiting = await Array.fromAsync(parts.catalog.tenants());
  while (waiting.length > 0) {
    const unfinished: string[] = [];
    for (const tenant of waiting) {
      const outcome = await exportNextSteps(parts, notes, tenant, report);
      if (outcome === 'stopped') return { ...report, isDone: false };
      if (outcome === 'more') unfinished.push(tenant);
    }
    waiting = unfinished;
  }
  return { ...report, isDone: true };
}

type ReportCounts = { -readonly [Name in Exclude<keyof ClosedDaysReport, 'isDone'>]: number };

async function exportNextSteps(
  parts: ClosedDaysParts,
  notes: DayNotes,
  tenant: string,
  counts: ReportCounts,
): Promise<'done' | 'more' | 'stopped'> {
  const note = await notes.open(tenant);
  const lastClosed = Math.floor((parts.clock.nowMs() - CLOSED_AFTER_MS) / MS_PER_DAY) - 1;
  const days = (await parts.catalog.allDays(tenant))
    .map(({ day }) => day)
    .filter(day => day <= lastClosed && day > (note.through ?? Number.NEGATIVE_INFINITY));
  let steps = 0;
  for (const day of days) {
    const dayStartNs = BigInt(day) * NS_PER_DAY;
    const endNs = dayStartNs + NS_PER_DAY;
    let startNs = note.nextNs > dayStartNs ? note.nextNs : dayStartNs;
    while (startNs < endNs) {
      if (steps === STEPS_AT_ONCE) return 'more';
      if (!(await parts.mayGoOn())) return 'stopped';
      const step = await exportStep(parts, note, tenant, { startNs, endNs });
      startNs = step.endNs;
      steps++;
      counts.steps++;
      counts.files += step.files;
      counts.entries += step.entries;
    }
    await note.dayIsDone(day);
    counts.days++;
  }
  return 'done';
}

async function exportStep(
  { sources, visibility, store, prefix, clock, stepBytes: maxBytes = STEP_BYTES }: ClosedDaysParts,
  note: Awaited<ReturnType<DayNotes['open']>>,
  tenant: string,
  range: { readonly startNs: bigint; readonly endNs: bigint },
): Promise<{ readonly endNs: bigint; readonly files: number; readonly entries: number }> {
  const { signal } = new AbortController();
  const visibleOf = await visibility.of([tenant], clock.nowNs());
  const exported = await runExport(
    sources,
    {
      tenants: [tenant],
      expr: EVERYTHING,
      range,
      maxBytes,
      hasLabels: true,
      signal,
      visibleOf,
      memory: new MemoryBudget(MAX_QUERY_MEMORY_BYTES),
    },
    newStatistics(),
  );
  const { endNs } = exported;
  const entries = exported.rows.count;
  let files: readonly EntryFile[];
  try {
    files = filesOf(exported, { tenant, prefix, startNs: range.startNs });
  } finally {
    exported.rows.release();
  }
  if (files.length > 0) await note.stepBegins(files.map(({ key }) => key));
  for (const { key, table } of files) await store.write(key, await parquetFile(table));
  await note.stepIsDone(endNs);
  return { endNs, files: files.length, entries };
}

interface EntryFile {
  readonly key: string;
  readonly table: EntryTable;
}

function filesOf(
  { rows, dayStartNs }: ExportedRows,
  { tenant, prefix, startNs }: { readonly tenant: string; readonly prefix: string; readonly startNs: bigint },
): EntryFile[] {
  const shared = new Map<LabelCategories, EntryLabels>();
  const paths = new HivePaths(tenant);
  const open = new Map<string, { table: EntryTable; number: number }>();
  const files: EntryFile[] = [];
  const close = (folder: string) => {
    const { table, number } = open.get(folder)!;
    const suffix = number === 0 ? '' : `-${number}`;
    files.push({ key: `${prefix}/${folder}/${startNs}${suffix}.parquet`, table });
    open.set(folder, { table: new EntryTable(), number: number + 1 });
  };
  for (const { time, labels: set, line } of rows.texts()) {
    let own = shared.get(set);
    if (own === undefined) {
      const metadata = labelsToObject([...set.structuredMetadata, ...set.parsed]);
      own = { labels: labelsToObject(set.stream), metadata };
      shared.set(set, own);
    }
    const timeNs = dayStartNs + BigInt(time);
    const folder = paths.of({ timeNs, labels: own.labels });
    const group = open.get(folder) ?? { table: new EntryTable(), number: 0 };
    open.set(folder, group);
    group.table.add(timeNs, line, own);
    if (group.table.count >= MAX_FILE_ROWS || group.table.lineBytes >= MAX_FILE_BYTES) close(folder);
  }
  for (const [folder, { table }] of open) if (table.count > 0) close(folder);
  return files;
}

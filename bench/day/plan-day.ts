/**
 * Plans a stored day as a query does: catalog records, day index, footers, text indexes. Runs in a separate
 * process with `--expose-gc`, and sends its figures to the parent.
 *
 *     plan-day.ts DATA_DIR TENANT DAY
 */

import { join } from 'node:path';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { TABLE_FILE } from '../../local/storage.ts';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';
import { compileTextPruner } from '../../shared/read/query/text-prune.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { encodeRecord, streamPartOf } from '../../shared/storage/catalog/chunk-record.ts';
import { type Footer, SectionKind } from '../../shared/storage/chunk/format.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';

export interface PlanningFigures {
  readonly chunks: number;
  /** Chunks that begin and end in one hour, as the merges of that window leave them. */
  readonly chunksOfHour: number;
  /** Hours in which a chunk begins. */
  readonly hours: number;
  /** Chunks with the streams of each part: its number, and their number. */
  readonly chunksOfParts: readonly (readonly [number, number])[];
  /** Parts of the day index. */
  readonly indexes: number;
  readonly lineBytes: number;
  readonly storedBytes: number;
  readonly recordBytes: number;
  readonly indexBytes: number;
  readonly indexHeadBytes: number;
  readonly footerBytes: number;
  readonly textIndexBytes: number;
  /** CPU milliseconds of each step. */
  readonly recordsMs: number;
  readonly indexMs: number;
  readonly footersMs: number;
  /** Reading of text indexes, for a text that no line contains. */
  readonly textMs: number;
  /** Heap and buffers that the decoded footers of the day hold. */
  readonly footerHeapBytes: number;
  readonly indexHeapBytes: number;
  /** Pages, and those that the text indexes leave. */
  readonly pages: number;
  readonly pagesLeft: number;
}

const [dataDir, tenant, dayText] = process.argv.slice(2);
const day = Number(dayText);
const ABSENT = '{app=~".+"} |= "4bf92f3577b34da6a3ce929d0e0e4736"';

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const before = cpuMs();
  const result = await work();
  return [result, cpuMs() - before];
}

function heldBytes(): number {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** @param ns time of the day */
function hourOf(ns: number): number {
  return Math.floor(ns / (60 * NS_OF_MINUTE));
}

async function planDay(): Promise<PlanningFigures> {
  const store = await openFileObjectStore(dataDir, { readOnly: true });
  const table = await openSqliteTable(join(dataDir, TABLE_FILE), { readOnly: true });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const [snapshot, recordsMs] = await timed(() => catalog.day(tenant, day));
  if (snapshot === undefined) throw new Error(`${dataDir} has no day ${day} of ${tenant}`);
  const { records } = snapshot;
  const sum = (of: (record: (typeof records)[number]) => number) =>
    records.reduce((total, record) => total + of(record), 0);

  const atStart = heldBytes();
  const indexes = new DayIndexes({ store, onBroken: error => console.error(error) });
  const [index, indexMs] = await timed(() => indexes.indexOfDay(tenant, snapshot));
  const withIndex = heldBytes();

  const source = new ChunkSource(store);
  const footers: Footer[] = [];
  const [, footersMs] = await timed(async () => {
    for (const record of records) footers.push(await source.footer(record));
  });
  const withFooters = heldBytes();
  const filters = footers.map(({ sections }) => sections.find(({ kind }) => kind === SectionKind.filter));

  const expr = parseQuery(ABSENT);
  if (expr.kind !== 'log') throw new Error('a log query is expected');
  const statistics = newStatistics();
  const pruner = compileTextPruner(expr.stages, source, statistics);
  const pages = records.flatMap((record, i) =>
    footers[i].pages.map(page => ({
      record,
      footer: footers[i],
      page,
      deleteFilters: undefined,
      deleteFilter: undefined,
      runs: page.runs,
      first: record.first,
      last: record.last,
    })),
  );
  const whole = { day, from: 0, to: Number.MAX_SAFE_INTEGER, pages, kept: undefined, isUneven: false };
  const [left, textMs] = await timed(() => pruner.prune(whole, new AbortController().signal));
  await table.close();
  return {
    chunks: records.length,
    chunksOfHour: records.filter(({ first, last }) => hourOf(first) === hourOf(last)).length,
    hours: new Set(records.map(({ first }) => hourOf(first))).size,
    chunksOfParts: [...Map.groupBy(records, streamPartOf)]
      .map(([part, { length }]) => [part, length] as const)
      .sort((a, b) => a[0] - b[0]),
    indexes: snapshot.indexes.length,
    lineBytes: sum(({ lineBytes }) => lineBytes),
    storedBytes: sum(({ storedBytes }) => storedBytes),
    recordBytes: sum(record => encodeRecord(record).length),
    indexBytes: snapshot.indexes.reduce((total, { storedBytes }) => total + storedBytes, 0),
    indexHeadBytes: snapshot.indexes.reduce((total, { headBytes }) => total + headBytes, 0),
    footerBytes: sum(({ footerBytes }) => footerBytes),
    textIndexBytes: filters.reduce((total, filter) => total + (filter?.block.storedBytes ?? 0), 0),
    recordsMs,
    indexMs: index === undefined ? 0 : indexMs,
    footersMs,
    textMs,
    indexHeapBytes: withIndex - atStart,
    footerHeapBytes: withFooters - withIndex,
    pages: pages.length,
    pagesLeft: left.pages.length,
  };
}

const figures = await planDay();
process.send!(figures, () => process.exit());

/**
 * Compaction of one tenant whose pushes never pause: the program's own planner decides what is merged, and merges take the time that
 * they were measured to take. A lease lets one function work at a time.
 *
 *     pushes --> chunks of the day --planMerges--> merges, one after the other --> chunks of the day
 */

import { compareChunks } from '../../../shared/storage/catalog/chunk-order.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { type PlannedMerge, planMerges } from '../../../shared/upkeep/compaction/plan-merges.ts';
import { CHUNK } from './figures.ts';
import { TENANT } from './synthetic-catalog.ts';

export interface FleetCompaction {
  readonly bytesPerDay: number;
  readonly minutes: number;
  /** Raw bytes of a push. */
  readonly pushBytes: number;
}

export interface CompactionOutcome {
  readonly pushedBytes: number;
  readonly mergedBytes: number;
  readonly merges: number;
  /** Age of the oldest push that fills a merge and is in none, at the end, ms. */
  readonly backlogMs: number;
  /** Rows are neither lost nor doubled. */
  readonly rowsPushed: number;
  readonly rowsStored: number;
}

const DAY = 20_000;
const MS_PER_DAY = 86_400_000;
const NS_PER_MS = 1_000_000;
/** Runs of the job. */
const EVERY_MS = 60_000;
/** Measured: CPU of merging (bench/model/figures.ts); a function has one thread for it, and reads ahead of it. */
const MERGE_MS_PER_GB = 80_000;
/** Measured: a swap rests for 500 ms; requests of lease, day and output. */
const SWAP_MS = 700;
const TARGET_BYTES = 128 * 1024 * 1024;

export function compactFleet({ bytesPerDay, minutes, pushBytes }: FleetCompaction): CompactionOutcome {
  const startMs = DAY * MS_PER_DAY;
  const endMs = startMs + minutes * 60_000;
  const pushEveryMs = (pushBytes / bytesPerDay) * MS_PER_DAY;
  let chunks: ChunkRecord[] = [];
  let pushed = 0;
  let merges = 0;
  let mergedBytes = 0;
  let made = 0;
  const rowsOfPush = Math.max(1, Math.floor(pushBytes / CHUNK.bytesPerLine));

  const pushUntil = (ms: number): void => {
    for (; startMs + pushed * pushEveryMs <= ms; pushed++) {
      const atMs = startMs + pushed * pushEveryMs;
      chunks.push(
        chunkOf(idOf(atMs, pushed), { atMs: atMs - startMs, spanMs: pushEveryMs }, rowsOfPush, pushBytes),
      );
    }
  };
  const merge = ({ inputs, level }: PlannedMerge): void => {
    const gone = new Set(inputs);
    chunks = chunks.filter(chunk => !gone.has(chunk));
    chunks.push(mergedOf(inputs, level, made++));
    merges++;
    for (const input of inputs) if (input.level === 0) mergedBytes += input.lineBytes;
  };

  let nowMs = startMs;
  let planned: PlannedMerge[] = [];
  while (nowMs < endMs) {
    if (planned.length === 0) {
      pushUntil(nowMs);
      planned = [
        ...planMerges(DAY, chunks.toSorted(compareChunks), {
          targetBytes: TARGET_BYTES,
          nowMs,
          force: false,
        }),
      ];
      if (planned.length === 0) {
        nowMs += EVERY_MS;
        continue;
      }
    }
    const next = planned.shift()!;
    nowMs += SWAP_MS + (lineBytesOf(next.inputs) / 1e9) * MERGE_MS_PER_GB;
    merge(next);
  }
  pushUntil(endMs);
  const full = planMerges(DAY, chunks.toSorted(compareChunks), {
    targetBytes: TARGET_BYTES,
    nowMs: endMs,
    force: false,
    onlyFull: true,
  });
  const waiting = full.flatMap(({ inputs }) => inputs.map(({ last }) => last / NS_PER_MS));
  return {
    pushedBytes: pushed * pushBytes,
    mergedBytes,
    merges,
    backlogMs: waiting.length === 0 ? 0 : endMs - startMs - leastOf(waiting),
    rowsPushed: pushed * rowsOfPush,
    rowsStored: chunks.reduce((sum, { rows }) => sum + rows, 0),
  };
}

function leastOf(list: readonly number[]): number {
  let least = Infinity;
  for (const one of list) if (one < least) least = one;
  return least;
}

function lineBytesOf(records: readonly ChunkRecord[]): number {
  return records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
}

/** As chunk ids are: the time at which writing began, then what makes them different. */
function idOf(ms: number, number: number): string {
  return `${Math.floor(ms).toString(16).padStart(12, '0')}${number.toString(16).padStart(20, '0')}`;
}

interface ChunkTime {
  /** Of the day. */
  readonly atMs: number;
  readonly spanMs: number;
}

function chunkOf(id: string, { atMs, spanMs }: ChunkTime, rows: number, lineBytes: number): ChunkRecord {
  return {
    id,
    origin: id,
    tenant: TENANT,
    day: DAY,
    level: 0,
    first: Math.max(0, Math.floor((atMs - spanMs) * NS_PER_MS)),
    last: Math.floor(atMs * NS_PER_MS),
    rows,
    lineBytes,
    metadataBytes: 0,
    asOfMs: 0,
    storedBytes: Math.ceil(lineBytes * CHUNK.storedShare),
    footerBytes: 1,
    pairs: undefined,
    inline: undefined,
    footer: undefined,
  };
}

function mergedOf(inputs: readonly ChunkRecord[], level: number, number: number): ChunkRecord {
  const oldest = inputs.toSorted(compareChunks)[0];
  const sum = (of: (record: ChunkRecord) => number) =>
    inputs.reduce((total, record) => total + of(record), 0);
  return {
    ...oldest,
    id: `${oldest.id.slice(0, 12)}f${number.toString(16).padStart(19, '0')}`,
    level,
    first: Math.min(...inputs.map(({ first }) => first)),
    last: Math.max(...inputs.map(({ last }) => last)),
    rows: sum(({ rows }) => rows),
    lineBytes: sum(({ lineBytes }) => lineBytes),
    storedBytes: sum(({ storedBytes }) => storedBytes),
  };
}

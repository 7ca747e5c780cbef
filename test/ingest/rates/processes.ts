/**
 * Processes that accept pushes of tenants over one in-memory table, and pushes of which only the sizes
 * matter.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import { type MemoryTable, memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Table } from '../../../shared/base/ports/table.ts';
import { IngestExchange } from '../../../shared/storage/catalog/ingest-exchange.ts';
import type { PushResult } from '../../../shared/write/ingest/accept.ts';
import { PushColumns } from '../../../shared/write/ingest/push-columns.ts';
import { IngestRates, type RatesLog } from '../../../shared/write/ingest/rates/ingest-rates.ts';
import type { Admission } from '../../../shared/write/ingest/rates/refused-streams.ts';
import { countingIds, type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { streamOf } from '../../support/rows.ts';

/** Rates of 1,000 B/s with bursts of 3,000 B, for streams 500 B/s and 2,000 B, unless a test sets others. */
export const SMALL_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  ingestionRateMb: 1000 / 1024 ** 2,
  ingestionBurstSizeMb: 3000 / 1024 ** 2,
  perStreamRateLimit: 1e9,
  perStreamRateLimitBurst: 1e9,
  maxGlobalStreamsPerUser: 0,
};

interface TableCalls {
  puts: number;
  queries: number;
}

export interface Processes {
  readonly clock: ManualClock;
  readonly table: MemoryTable;
  readonly calls: TableCalls;
  /** Processes that live; more may be started. */
  readonly running: IngestRates[];
  start(): IngestRates;
  /** Awaits exchanges in progress. */
  settle(): Promise<void>;
}

/** `wrap` puts something between the processes and their table. */
export function processes(
  count: number,
  { wrap = table => table, log }: { wrap?: (table: Table) => Table; log?: RatesLog } = {},
): Processes {
  const clock = manualClock(Date.UTC(2026, 0, 1, 0, 10));
  const table = memoryTable({ clock });
  const calls: TableCalls = { puts: 0, queries: 0 };
  const counted: Table = {
    ...table,
    put: (...args) => {
      calls.puts++;
      return table.put(...args);
    },
    query: (...args) => {
      calls.queries++;
      return table.query(...args);
    },
  };
  const ids = countingIds();
  const start = () => {
    const exchange = new IngestExchange({ table: wrap(counted), clock });
    const rates = new IngestRates({ exchange, clock, ids, log });
    running.push(rates);
    return rates;
  };
  const running: IngestRates[] = [];
  for (let i = 0; i < count; i++) start();
  return { clock, table, calls, running, start, settle };
}

export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await nextTurn();
}

/** Push with one entry of the given size for each named stream. */
export function pushOfBytes(bytesByStream: Readonly<Record<string, number>>): PushResult {
  const columns = new PushColumns(Buffer.alloc(0));
  const sizes = Object.values(bytesByStream);
  for (const [app, bytes] of Object.entries(bytesByStream)) {
    columns.addEntry(columns.streams.push(streamOf({ app })) - 1, 20_454, 0, 0, bytes);
  }
  const lineBytes = sizes.reduce((sum, size) => sum + size, 0);
  return {
    accepted: {
      columns,
      entries: Uint32Array.from(sizes, (_, i) => i),
      lineBytes,
      levelOf: new Uint16Array(sizes.length),
      levels: [],
    },
    discards: [],
    policyOf: sizes.map(() => ''),
    totals: {
      entries: Uint32Array.from(sizes, () => 1),
      lineBytes: Float64Array.from(sizes),
      metadataBytes: new Float64Array(sizes.length),
    },
    lineBytes,
    metadataBytes: 0,
    truncated: { lines: 0, bytes: 0 },
  };
}

/** Streams of the push that are stored. */
export function storedStreams({ entries }: Admission, push: PushResult): string[] {
  const { columns } = push.accepted;
  return [...entries].map(entry => columns.streams[columns.streamOf[entry]].labels[0].value);
}

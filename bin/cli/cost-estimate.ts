/**
 * What a month of so many logs and queries would cost on AWS, by the formula of shared/server/usage/cost.ts (docs/dev/cost-model.md) and
 * the calls that schedules make whether there is work or not.
 */

import { LIST_PRICES, type Prices } from '../../shared/server/admin/prices.ts';
import { chunkWrites, costOf, gatewayUnits } from '../../shared/server/usage/cost.ts';
import { newFigures, type Sums } from '../../shared/server/usage/figures.ts';

export interface Load {
  /** Bytes of lines and metadata a day. */
  readonly bytesPerDay: number;
  /** Of one push, uncompressed. */
  readonly pushBytes: number;
  readonly retentionDays: number;
  /** Stored bytes for each byte of lines. */
  readonly storedShare: number;
  readonly queriesPerDay: number;
  /** Of a query, of a function. */
  readonly querySeconds: number;
  /** Reads of objects that a query makes. */
  readonly queryGets: number;
  /** Chunk records that a query looks at. */
  readonly queryRecords: number;
}

export interface CostLine {
  readonly what: string;
  readonly perDay: number;
  readonly perMonth: number;
}

export const DAYS_OF_MONTH = 30;

/** What the stack does in a month with nothing to do (docs/dev/cost-model.md, "An idle store"). */
const IDLE = {
  ticks: 43_200,
  calls: 47_520,
  readUnits: 771_120,
  writeUnits: 12_960,
  gbSeconds: 2_718,
  logGb: 0.014256,
};

/** In the currency of the prices; storage is that of a store as old as its retention. */
export function estimateCost(load: Load, prices: Prices): readonly CostLine[] {
  const pushes = load.pushBytes > 0 ? load.bytesPerDay / load.pushBytes : 0;
  const { objectPuts, writeUnits } = chunkWrites(load.pushBytes);
  const sums: Sums = {
    ...newFigures().sums,
    pushes,
    gatewayUnits: pushes * gatewayUnits(load.pushBytes),
    lineBytes: load.bytesPerDay,
    objectPuts: pushes * objectPuts,
    writeUnits: pushes * writeUnits,
    queries: load.queriesPerDay,
    queryMs: load.queriesPerDay * load.querySeconds * 1000,
    queryGets: load.queriesPerDay * load.queryGets,
    queryRecords: load.queriesPerDay * load.queryRecords,
  };
  const stored = { objectBytes: load.bytesPerDay * load.retentionDays * load.storedShare, tableBytes: 0 };
  const { ingest, storage, queries } = costOf(sums, stored, prices, DAYS_OF_MONTH);
  const lines = [
    lineOf('ingest', ingest),
    lineOf(`storage for ${load.retentionDays} days`, storage),
    lineOf('queries', queries),
    lineOf('idle schedules', idleCost(prices) / DAYS_OF_MONTH),
  ];
  return [
    ...lines,
    lineOf(
      'total',
      lines.reduce((sum, { perDay }) => sum + perDay, 0),
    ),
  ];
}

function lineOf(what: string, perDay: number): CostLine {
  return { what, perDay, perMonth: perDay * DAYS_OF_MONTH };
}

function idleCost(prices: Prices): number {
  const { ticks, calls, readUnits, writeUnits, gbSeconds, logGb } = IDLE;
  const requests =
    // Scheduler and logs are not among the prices that are configured.
    ticks * LIST_PRICES.schedulerCall.price +
    calls * prices.functionRequestMillion +
    readUnits * prices.tableReadMillion +
    writeUnits * prices.tableWriteMillion;
  return requests / 1_000_000 + gbSeconds * prices.functionGbSecond + logGb * LIST_PRICES.logsIngested.price;
}

/**
 * Estimates the monthly cost of a load on AWS with the formula of shared/server/usage/cost.ts
 * (docs/dev/cost-model.md). Includes the calls that schedules make even without work.
 */

import { LIST_PRICES, type Prices } from '../../shared/server/admin/prices.ts';
import { chunkWrites, costOf, gatewayUnits } from '../../shared/server/usage/cost.ts';
import { newFigures, type Sums } from '../../shared/server/usage/figures.ts';
import { mergingCost } from '../../shared/server/usage/merging.ts';

export interface Load {
  /** Bytes of lines and metadata per day. */
  readonly bytesPerDay: number;
  /** Uncompressed size of one push. */
  readonly pushBytes: number;
  readonly retentionDays: number;
  /** Stored bytes per byte of lines. */
  readonly storedShare: number;
  readonly queriesPerDay: number;
  /** Function time of one query, s. */
  readonly querySeconds: number;
  /** Object reads of one query. */
  readonly queryGets: number;
  /** Chunk records that one query reads. */
  readonly queryRecords: number;
}

export interface CostLine {
  readonly what: string;
  readonly perDay: number;
  readonly perMonth: number;
}

/**
 * A query over an hour of a tenant with 10 GB of lines a day, as the simulated fleet answers it (bench/model/simulated.ts, written by `npm
 * run simulate -- fleet --model`): mean of 60% counts, 30% rare texts and 10% JSON filters. Planning and workers are included.
 */
export const QUERY_OF_HOUR = {
  /** Seconds of a function with the memory of the query function. */
  seconds: 0.3,
  gets: 10,
} as const;

const DAYS_OF_MONTH = 30;
const GB = 1_000_000_000;

/** Monthly activity of the stack without load (docs/dev/cost-model.md#an-idle-store). */
const IDLE = {
  ticks: 43_200,
  calls: 47_520,
  readUnits: 771_120,
  writeUnits: 12_960,
  gbSeconds: 2_211,
  logGb: 0.014256,
};

/** Cost lines in the currency of the prices. Storage is that of a store that is as old as its retention. */
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
    lineOf('merging', mergingCost({ ...sums, gb: load.bytesPerDay / GB, objects: sums.objectPuts }, prices)),
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
    // The configured prices do not include the scheduler and its logs.
    ticks * LIST_PRICES.schedulerCall.price +
    calls * prices.functionRequestMillion +
    readUnits * prices.tableReadMillion +
    writeUnits * prices.tableWriteMillion;
  return requests / 1_000_000 + gbSeconds * prices.functionGbSecond + logGb * LIST_PRICES.logsIngested.price;
}

/**
 * Requests, cost, latency and the first limit of a deployment on AWS, computed from figures.ts, the formula
 * of shared/server/usage/cost.ts and its prices. Pure arithmetic without measurements.
 *
 * Pitfall: tenants are alike, and a query reads one of them. So more tenants make queries smaller, and spread
 * the load over partition and prefix limits.
 */

import { SECONDS_PER_DAY } from '../../shared/base/model/time-units.ts';
import type { Prices } from '../../shared/server/admin/prices.ts';
import { chunkWrites, costOf, gatewayUnits } from '../../shared/server/usage/cost.ts';
import { newFigures } from '../../shared/server/usage/figures.ts';
import {
  CHUNK_BYTES,
  LIMITS,
  MERGE,
  PUSH,
  QUERY,
  QUERY_KINDS,
  STORED_SHARE,
  SUITE_BYTES,
} from './figures.ts';
import { BUSY_JOBS, busyMonth, DEFAULT_STACK, idleMonth, sumOf } from './idle.ts';

export interface Load {
  readonly gbPerDay: number;
  /** KB of lines per push. */
  readonly pushKb: number;
  readonly queriesPerDay: number;
  /** Time range of a query. */
  readonly queryHours: number;
  readonly retentionDays: number;
  readonly tenants: number;
  /** Load of the busiest seconds, as a multiple of the mean. */
  readonly peak: number;
}

interface Requests {
  readonly name: string;
  readonly perDay: number;
  readonly atPeakPerSecond: number;
}

interface QueryFigures {
  readonly name: string;
  readonly tasks: number;
  readonly gets: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

interface LimitUse {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly unit: string;
  /** GB per day at which the limit is reached, with the same number of queries; infinite if it never is. */
  readonly metAtGbPerDay: number;
  /** True if AWS raises it on request. */
  readonly isSoft: boolean;
}

interface CostLine {
  readonly name: string;
  readonly perMonth: number;
}

export interface Model {
  readonly requests: readonly Requests[];
  readonly pushSeconds: number;
  readonly queries: readonly QueryFigures[];
  /** Limits, the first one reached first. */
  readonly limits: readonly LimitUse[];
  readonly cost: readonly CostLine[];
  readonly costPerMonth: number;
}

const GB = 1_000_000_000;
const KB = 1000;
const DAYS_OF_MONTH = 30;
const MILLION = 1_000_000;
/** Search range of limits, GB per day: from nothing to more than any user has. */
const VOLUMES_GB: readonly [number, number] = [1e-6, 1e9];
/** Halvings of the exponent: exact to six digits. */
const HALVINGS = 45;

/** Throws RangeError if a push does not fit into a request. */
export function modelOf(load: Load, prices: Prices): Model {
  const pushBytes = load.pushKb * KB;
  if (pushBytes * PUSH.sentShare > PUSH.maxSentBytes) {
    const maxKb = Math.floor(PUSH.maxSentBytes / PUSH.sentShare / KB);
    throw new RangeError(
      `a push of ${load.pushKb} KB does not fit into a request: at most ${maxKb} KB of lines`,
    );
  }
  const taken = ingestOf(load, pushBytes);
  const queries = QUERY_KINDS.map(kind => queryOf(load, kind));
  const cost = costLines(load, { taken, queries, prices });
  return {
    requests: requestsOf(load, taken, queries),
    pushSeconds: taken.pushSeconds,
    queries: queries.map(({ figures }) => figures),
    limits: limitsOf(load),
    cost,
    costPerMonth: cost.reduce((sum, { perMonth }) => sum + perMonth, 0),
  };
}

/** Per day, except for `pushSeconds`. */
interface Ingest {
  readonly bytes: number;
  readonly pushes: number;
  readonly gatewayUnits: number;
  readonly objects: number;
  /** Write units of pushes, including the later deletion of their records. */
  readonly writeUnits: number;
  readonly mergeGets: number;
  readonly mergePuts: number;
  readonly mergeWriteUnits: number;
  readonly mergeSeconds: number;
  /** Duration of one push. */
  readonly pushSeconds: number;
}

function ingestOf({ gbPerDay }: Load, pushBytes: number): Ingest {
  const pushes = (gbPerDay * GB) / pushBytes;
  const { objectPuts, writeUnits } = chunkWrites(pushBytes);
  const objects = pushes * objectPuts;
  return {
    bytes: gbPerDay * GB,
    pushes,
    gatewayUnits: pushes * gatewayUnits(pushBytes * PUSH.sentShare),
    objects,
    writeUnits: pushes * writeUnits,
    mergeGets: objects * MERGE.getsPerObject,
    mergePuts: gbPerDay * MERGE.putsPerGb,
    mergeWriteUnits:
      pushes * (writeUnits / 2) * MERGE.writeUnitsPerRecordUnit +
      (pushes / MERGE.chunksPerMerge) * MERGE.writeUnitsPerMerge,
    mergeSeconds: gbPerDay * MERGE.cpuSecondsPerGb,
    pushSeconds: PUSH.waitSeconds + (pushBytes / GB) * PUSH.cpuSecondsPerGb,
  };
}

interface Query {
  readonly share: number;
  readonly figures: QueryFigures;
  readonly readUnits: number;
}

function queryOf({ gbPerDay, tenants, queryHours }: Load, kind: (typeof QUERY_KINDS)[number]): Query {
  const bytes = ((gbPerDay * GB) / tenants / 24) * queryHours;
  const days = Math.max(1, Math.ceil(queryHours / 24));
  const parts = bytes / SUITE_BYTES;
  const gets = Math.max(1, Math.ceil(parts * kind.getsPer512Mb));
  const cpuSeconds = parts * kind.cpuSecondsPer512Mb;
  const tasks = Math.min(days * QUERY.maxTasksOfDay, Math.floor(cpuSeconds / QUERY.minTaskSeconds));
  const handedOut = Math.max(1, tasks);
  const waits = Math.ceil(gets / handedOut / QUERY.readsAtOnce) * QUERY.getSeconds;
  const seconds =
    QUERY.planSeconds +
    (tasks > 1 ? QUERY.callSeconds : 0) +
    Math.max(waits, QUERY.getSeconds) +
    cpuSeconds / handedOut;
  const records = Math.ceil((bytes * STORED_SHARE) / CHUNK_BYTES);
  const readUnits = Math.max(days * QUERY.readUnitsPerDay, records / QUERY.recordsPerReadUnit);
  return { share: kind.share, readUnits, figures: { name: kind.name, tasks, gets, seconds, cpuSeconds } };
}

function meanOf(queries: readonly Query[], of: (query: Query) => number): number {
  return queries.reduce((sum, query) => sum + query.share * of(query), 0);
}

/** Calls of the worker function per query. */
const callsOf = ({ figures }: Query) => (figures.tasks > 1 ? figures.tasks : 0);
/** Worker seconds per query: each worker runs for the time after planning. */
const workerSecondsOf = (query: Query) => callsOf(query) * (query.figures.seconds - QUERY.planSeconds);

function requestsOf(load: Load, taken: Ingest, queries: readonly Query[]): Requests[] {
  const { queriesPerDay, peak } = load;
  const rows: [name: string, perDay: number][] = [
    ['pushes', taken.pushes],
    ['queries', queriesPerDay],
    ['calls of Lambda', taken.pushes + queriesPerDay * (1 + meanOf(queries, callsOf))],
    ['PUTs', taken.objects + taken.mergePuts],
    ['GETs', taken.mergeGets + queriesPerDay * meanOf(queries, ({ figures }) => figures.gets)],
    ['write units', taken.writeUnits + taken.mergeWriteUnits],
    ['read units', queriesPerDay * meanOf(queries, ({ readUnits }) => readUnits)],
  ];
  return rows.map(([name, perDay]) => ({ name, perDay, atPeakPerSecond: (perDay / SECONDS_PER_DAY) * peak }));
}

interface Use {
  readonly name: string;
  readonly limit: number;
  readonly unit: string;
  readonly isSoft: boolean;
  readonly used: number;
}

function usesOf(load: Load): Use[] {
  const { queriesPerDay, tenants, peak, pushKb } = load;
  const taken = ingestOf(load, pushKb * KB);
  const queries = QUERY_KINDS.map(kind => queryOf(load, kind));
  const atPeak = (perDay: number) => (perDay / SECONDS_PER_DAY) * peak;
  const pushesAtOnce = atPeak(taken.pushes) * taken.pushSeconds;
  const queriesAtOnce =
    atPeak(queriesPerDay) * meanOf(queries, one => one.figures.seconds + workerSecondsOf(one));
  const mergesAtOnce = taken.mergeSeconds / SECONDS_PER_DAY;
  const writes = atPeak(taken.writeUnits + taken.mergeWriteUnits);
  const gets = atPeak(taken.mergeGets + queriesPerDay * meanOf(queries, ({ figures }) => figures.gets));
  const quota = { isSoft: true };
  const fixed = { isSoft: false };
  return [
    {
      name: 'API Gateway, requests',
      used: atPeak(taken.pushes + queriesPerDay),
      limit: LIMITS.gatewayPerSecond,
      unit: '/s',
      ...quota,
    },
    {
      name: 'Lambda, calls at once',
      used: pushesAtOnce + queriesAtOnce + mergesAtOnce,
      limit: LIMITS.lambdaConcurrency,
      unit: '',
      ...quota,
    },
    {
      name: 'DynamoDB, writes of the table',
      used: writes,
      limit: LIMITS.tableWritesPerSecond,
      unit: ' units/s',
      ...quota,
    },
    {
      name: 'DynamoDB, partitions of a tenant',
      used: writes / tenants,
      limit: LIMITS.partitionWritesPerSecond * LIMITS.partitionsOfTenantDay,
      unit: ' units/s',
      ...fixed,
    },
    {
      name: 'S3, PUTs below a tenant',
      used: atPeak(taken.objects) / tenants,
      limit: LIMITS.prefixPutsPerSecond,
      unit: '/s',
      ...fixed,
    },
    {
      name: 'S3, GETs below a tenant',
      used: gets / tenants,
      limit: LIMITS.prefixGetsPerSecond,
      unit: '/s',
      ...fixed,
    },
    {
      name: 'merging of a day of a tenant',
      used: taken.mergeSeconds / tenants,
      limit: MERGE.secondsPerTenantDay,
      unit: ' s a day',
      ...fixed,
    },
  ];
}

function limitsOf(load: Load): LimitUse[] {
  return usesOf(load)
    .map((use, i) => ({ ...use, metAtGbPerDay: whereMet(load, i) }))
    .sort((a, b) => a.metAtGbPerDay - b.metAtGbPerDay);
}

/**
 * Finds the volume by bisection: use grows with the volume, but not in proportion, because queries
 * contribute.
 */
function whereMet(load: Load, index: number): number {
  const isMetAt = (gbPerDay: number) => {
    const { used, limit } = usesOf({ ...load, gbPerDay })[index];
    return used >= limit;
  };
  let [low, high] = VOLUMES_GB;
  if (!isMetAt(high)) return Number.POSITIVE_INFINITY;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.sqrt(low * high);
    if (isMetAt(middle)) high = middle;
    else low = middle;
  }
  return high;
}

interface CostParts {
  readonly taken: Ingest;
  readonly queries: readonly Query[];
  readonly prices: Prices;
}

function costLines(load: Load, { taken, queries, prices }: CostParts): CostLine[] {
  const { queriesPerDay, retentionDays } = load;
  const sums = {
    ...newFigures().sums,
    pushes: taken.pushes,
    gatewayUnits: taken.gatewayUnits,
    lineBytes: taken.bytes,
    objectPuts: taken.objects,
    writeUnits: taken.writeUnits,
    queries: queriesPerDay,
    queryMs: queriesPerDay * meanOf(queries, ({ figures }) => figures.seconds) * 1000,
    queryGets: queriesPerDay * meanOf(queries, ({ figures }) => figures.gets),
    queryRecords: queriesPerDay * meanOf(queries, ({ readUnits }) => readUnits) * QUERY.recordsPerReadUnit,
  };
  const stored = { objectBytes: taken.bytes * retentionDays * STORED_SHARE, tableBytes: 0 };
  const day = costOf(sums, stored, prices, DAYS_OF_MONTH);
  const workers =
    queriesPerDay *
    meanOf(
      queries,
      query =>
        workerSecondsOf(query) * QUERY.workerMemoryGb * prices.functionGbSecond +
        (callsOf(query) * prices.functionRequestMillion) / MILLION,
    );
  // The formula for pushes includes one read of each object.
  const merging =
    ((taken.mergeGets - taken.objects) * prices.objectGetMillion +
      taken.mergePuts * prices.objectPutMillion +
      taken.mergeWriteUnits * prices.tableWriteMillion) /
      MILLION +
    taken.mergeSeconds * MERGE.memoryGb * prices.functionGbSecond;
  return [
    { name: 'taking in', perMonth: day.ingest * DAYS_OF_MONTH },
    { name: 'merging and indexing', perMonth: merging * DAYS_OF_MONTH },
    { name: `keeping ${retentionDays} days`, perMonth: day.storage * DAYS_OF_MONTH },
    { name: 'queries', perMonth: (day.queries + workers) * DAYS_OF_MONTH },
    {
      name: 'schedules',
      perMonth: sumOf(idleMonth(DEFAULT_STACK)) + busyMonth(DEFAULT_STACK, BUSY_JOBS),
    },
  ];
}

/**
 * Requests, cost, latency and the first limit of a deployment on AWS, computed from figures.ts, the simulated
 * queries of simulated.ts, the formula of shared/server/usage/cost.ts and its prices. Pure arithmetic.
 *
 * Pitfall: tenants are alike, and a query reads one of them. So more tenants make queries smaller, and spread
 * the load over partition and prefix limits.
 */

import { SECONDS_PER_DAY } from '../../shared/base/model/time-units.ts';
import type { Prices } from '../../shared/server/admin/prices.ts';
import { chunkWrites, costOf, gatewayUnits } from '../../shared/server/usage/cost.ts';
import { newFigures } from '../../shared/server/usage/figures.ts';
import { mergingCost, mergingOf, type StoredPushes } from '../../shared/server/usage/merging.ts';
import {
  CHUNK_BYTES,
  LIMITS,
  MERGE_SECONDS_OF_TENANT_DAY,
  PUSH,
  QUERY,
  QUERY_KINDS,
  STORED_SHARE,
} from './figures.ts';
import { BUSY_JOBS, busyMonth, DEFAULT_STACK, idleMonth, sumOf } from './idle.ts';
import { SIMULATED } from './simulated.ts';

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

interface ModeledQuery extends Omit<SimulatedQuery, 'gb'> {
  readonly name: string;
}

/** A query over that number of GB of lines, as the simulated fleet answers it (simulated.ts). */
export interface SimulatedQuery {
  readonly gb: number;
  /** Parts that workers run; 0 if the query function does all itself. */
  readonly tasks: number;
  /** Calls of workers, with those that are repeated. */
  readonly calls: number;
  readonly gets: number;
  /** Time until the response, with planning. */
  readonly seconds: number;
  /** Billed seconds of all workers. */
  readonly workerSeconds: number;
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
  readonly queries: readonly ModeledQuery[];
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
export interface Ingest extends StoredPushes {
  readonly bytes: number;
  readonly gatewayUnits: number;
  readonly mergeGets: number;
  readonly mergePuts: number;
  readonly mergeWriteUnits: number;
  readonly mergeSeconds: number;
  /** Duration of one push. */
  readonly pushSeconds: number;
}

export function ingestOf({ gbPerDay }: Pick<Load, 'gbPerDay'>, pushBytes: number): Ingest {
  const pushes = (gbPerDay * GB) / pushBytes;
  const { objectPuts, writeUnits } = chunkWrites(pushBytes);
  const stored = {
    gb: gbPerDay,
    pushes,
    objects: pushes * objectPuts,
    writeUnits: pushes * writeUnits,
  };
  const merging = mergingOf(stored);
  return {
    bytes: gbPerDay * GB,
    ...stored,
    gatewayUnits: pushes * gatewayUnits(pushBytes * PUSH.sentShare),
    mergeGets: merging.gets,
    mergePuts: merging.puts,
    mergeWriteUnits: merging.writeUnits,
    mergeSeconds: merging.seconds,
    pushSeconds: PUSH.waitSeconds + (pushBytes / GB) * PUSH.cpuSecondsPerGb,
  };
}

interface Query {
  readonly share: number;
  readonly figures: ModeledQuery;
  readonly readUnits: number;
}

function queryOf(
  { gbPerDay, tenants, queryHours }: Pick<Load, 'gbPerDay' | 'tenants' | 'queryHours'>,
  { name, share }: (typeof QUERY_KINDS)[number],
): Query {
  const gb = (gbPerDay / tenants / 24) * queryHours;
  const days = Math.max(1, Math.ceil(queryHours / 24));
  const records = Math.ceil((gb * GB * STORED_SHARE) / CHUNK_BYTES);
  const readUnits = Math.max(days * QUERY.readUnitsPerDay, records / QUERY.recordsPerReadUnit);
  return { share, readUnits, figures: { name, ...simulatedAt(SIMULATED[name], gb) } };
}

/**
 * Figures of a query over this amount of lines: on a line between the two next points, and in proportion beyond the
 * last one. An empty range takes one read, in the time of the smallest count.
 */
function simulatedAt(points: readonly SimulatedQuery[], gb: number): Omit<SimulatedQuery, 'gb'> {
  const least = {
    gb: 0,
    tasks: 0,
    calls: 0,
    gets: 1,
    seconds: SIMULATED.counts[0].seconds,
    workerSeconds: 0,
  };
  const all = [least, ...points];
  const last = all[all.length - 1];
  const next = all.findIndex(point => point.gb > gb);
  const at = (name: keyof SimulatedQuery) => {
    if (next === -1) return (last[name] * gb) / last.gb;
    const [from, to] = [all[next - 1], all[next]];
    return from[name] + ((gb - from.gb) / (to.gb - from.gb)) * (to[name] - from[name]);
  };
  return {
    tasks: Math.round(at('tasks')),
    calls: at('calls'),
    gets: at('gets'),
    seconds: at('seconds'),
    workerSeconds: at('workerSeconds'),
  };
}

function meanOf(queries: readonly Query[], of: (query: Query) => number): number {
  return queries.reduce((sum, query) => sum + query.share * of(query), 0);
}

function requestsOf(load: Load, taken: Ingest, queries: readonly Query[]): Requests[] {
  const { queriesPerDay, peak } = load;
  const rows: [name: string, perDay: number][] = [
    ['pushes', taken.pushes],
    ['queries', queriesPerDay],
    ['calls of Lambda', taken.pushes + queriesPerDay * (1 + meanOf(queries, ({ figures }) => figures.calls))],
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
    atPeak(queriesPerDay) * meanOf(queries, ({ figures }) => figures.seconds + figures.workerSeconds);
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
      limit: LIMITS.prefixPutsPerSecond * LIMITS.prefixesOfTenant,
      unit: '/s',
      ...fixed,
    },
    {
      name: 'S3, GETs below a tenant',
      used: gets / tenants,
      limit: LIMITS.prefixGetsPerSecond * LIMITS.prefixesOfTenant,
      unit: '/s',
      ...fixed,
    },
    {
      name: 'merging of a day of a tenant',
      used: taken.mergeSeconds / tenants,
      limit: MERGE_SECONDS_OF_TENANT_DAY,
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

/** Dollars of one query: gateway, function, reads and workers. */
function queryCost({ figures, readUnits }: Pick<Query, 'figures' | 'readUnits'>, prices: Prices): number {
  const sums = {
    ...newFigures().sums,
    queries: 1,
    queryMs: figures.seconds * 1000,
    queryGets: figures.gets,
    queryRecords: readUnits * QUERY.recordsPerReadUnit,
  };
  const workers =
    figures.workerSeconds * QUERY.workerMemoryGb * prices.functionGbSecond +
    (figures.calls * prices.functionRequestMillion) / MILLION;
  return costOf(sums, { objectBytes: 0, tableBytes: 0 }, prices, DAYS_OF_MONTH).queries + workers;
}

/** Dollars of a query of each kind over this amount of lines of one day, in the order of QUERY_KINDS. */
export function queryCosts(gb: number, prices: Prices): number[] {
  const load = { gbPerDay: gb * 24, queryHours: 1, tenants: 1 };
  return QUERY_KINDS.map(kind => queryCost(queryOf(load, kind), prices));
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
  };
  const stored = { objectBytes: taken.bytes * retentionDays * STORED_SHARE, tableBytes: 0 };
  const day = costOf(sums, stored, prices, DAYS_OF_MONTH);
  return [
    { name: 'taking in', perMonth: day.ingest * DAYS_OF_MONTH },
    { name: 'merging and indexing', perMonth: mergingCost(taken, prices) * DAYS_OF_MONTH },
    { name: `keeping ${retentionDays} days`, perMonth: day.storage * DAYS_OF_MONTH },
    {
      name: 'queries',
      perMonth: queriesPerDay * meanOf(queries, query => queryCost(query, prices)) * DAYS_OF_MONTH,
    },
    {
      name: 'schedules',
      perMonth: sumOf(idleMonth(DEFAULT_STACK)) + busyMonth(DEFAULT_STACK, BUSY_JOBS),
    },
  ];
}

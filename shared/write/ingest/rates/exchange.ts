/**
 * Runs one exchange between the processes that receive a tenant's pushes: report, then read. Each function
 * throws errors of the table.
 */

import type { Limits } from '../../../base/model/limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import type { IngestExchange } from '../../../storage/catalog/ingest-exchange.ts';
import { DEMAND_VALID_MS, FIRST_READ_MS } from './bounds.ts';
import { type StreamRates, streamShares } from './stream-rates.ts';
import type { Rate } from './tenant-rate.ts';
import { streamRateOf, type TenantState } from './tenant-state.ts';
import type { TenantStreams } from './tenant-streams.ts';

interface ExchangeParts {
  readonly exchange: IngestExchange;
  readonly clock: Clock;
}

interface DemandOptions {
  readonly tenant: string;
  readonly state: TenantState;
  readonly process: string;
  readonly rate: Rate;
  readonly limits: Limits;
  readonly streamRates: StreamRates;
}

/** Reports before it reads: of two processes that start at once, at least one reads the other's report. */
export async function exchangeDemand(
  { exchange, clock }: ExchangeParts,
  { tenant, state, process, rate, limits, streamRates }: DemandOptions,
): Promise<void> {
  const nowMs = clock.nowMs();
  const elapsedMs = nowMs - state.rate.reportedMs;
  const { processes } = state.rate;
  const hot = streamRates.hot(tenant, { processes, rate: streamRateOf(limits), elapsedMs });
  const demand = state.rate.report(process, hot, rate, nowMs);
  await exchange.publishDemand(tenant, demand, DEMAND_VALID_MS);
  const reported = await exchange.demands(tenant);
  const others = reported.filter(other => other.process !== process);
  state.rate.learn(others, rate, clock.nowMs());
  state.shares = streamShares(hot, others, state.rate.processes);
}

/** Reads before it announces, because streams that another process announced need no second announcement. */
export async function exchangeStreams(
  parts: ExchangeParts,
  { tenant, process, streams }: { tenant: string; process: string; streams: TenantStreams },
): Promise<void> {
  await readAnnounced(parts, tenant, streams);
  const unannounced = streams.takeUnannounced();
  if (unannounced.hashes.length === 0) return;
  try {
    await parts.exchange.announce(tenant, { process, ...unannounced });
  } catch (error) {
    streams.restoreUnannounced(unannounced);
    throw error;
  }
}

/** Performs the read that a push waits for, up to FIRST_READ_MS. A late result is still used. */
export async function firstRead(parts: ExchangeParts, tenant: string, streams: TenantStreams): Promise<void> {
  const isDone = new AbortController();
  const read = readAnnounced(parts, tenant, streams);
  const late = parts.clock.sleep(FIRST_READ_MS, isDone.signal).catch(() => undefined);
  try {
    await Promise.race([read, late]);
  } finally {
    isDone.abort();
    // The waiting push has continued. The next exchange reports a failure.
    read.catch(() => undefined);
  }
}

async function readAnnounced(
  { exchange, clock }: ExchangeParts,
  tenant: string,
  streams: TenantStreams,
): Promise<void> {
  const startedMs = clock.nowMs();
  const { hours, sinceMs } = streams.toRead(startedMs);
  const announced = await Promise.all(hours.map(hour => exchange.announced(tenant, hour, sinceMs)));
  for (let i = 0; i < hours.length; i++) streams.learn(hours[i], announced[i]);
  streams.wasRead(startedMs);
}

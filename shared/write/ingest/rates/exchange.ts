/** One exchange between the processes that take a tenant's pushes: tell, then hear. Each function throws what the table does. */

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

export interface DemandOptions {
  readonly tenant: string;
  readonly state: TenantState;
  readonly process: string;
  readonly rate: Rate;
  readonly limits: Limits;
  readonly streamRates: StreamRates;
}

/** Told before the others are asked: of two processes that begin at once one hears of the other at least. */
export async function exchangeDemand(
  { exchange, clock }: ExchangeParts,
  { tenant, state, process, rate, limits, streamRates }: DemandOptions,
): Promise<void> {
  const nowMs = clock.nowMs();
  const elapsedMs = nowMs - state.rate.reportedMs;
  const { processes } = state.rate;
  const hot = streamRates.hot(tenant, { processes, rate: streamRateOf(limits), elapsedMs });
  const demand = state.rate.report(process, hot, rate, nowMs);
  await exchange.tellDemand(tenant, demand, DEMAND_VALID_MS);
  const told = await exchange.demands(tenant);
  const others = told.filter(other => other.process !== process);
  state.rate.learn(others, rate, clock.nowMs());
  state.shares = streamShares(hot, others, state.rate.processes);
}

/** Asked before it is told: what another process announced is no news any more. */
export async function exchangeStreams(
  parts: ExchangeParts,
  { tenant, process, streams }: { tenant: string; process: string; streams: TenantStreams },
): Promise<void> {
  await readAnnounced(parts, tenant, streams);
  const news = streams.takeNews();
  if (news.hashes.length === 0) return;
  try {
    await parts.exchange.announce(tenant, { process, ...news });
  } catch (error) {
    streams.returnNews(news);
    throw error;
  }
}

/** The read that a push waits for, but no longer than FIRST_READ_MS: one that comes late is taken in all the same. */
export async function firstRead(parts: ExchangeParts, tenant: string, streams: TenantStreams): Promise<void> {
  const isDone = new AbortController();
  const read = readAnnounced(parts, tenant, streams);
  const late = parts.clock.sleep(FIRST_READ_MS, isDone.signal).catch(() => undefined);
  try {
    await Promise.race([read, late]);
  } finally {
    isDone.abort();
    // Whoever waits has gone on: what becomes of it is seen by the next exchange.
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

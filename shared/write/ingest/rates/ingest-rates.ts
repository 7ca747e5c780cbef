/**
 * Applies limits that depend on earlier pushes of a tenant: its rate, the rates of its streams, and the
 * number of active streams (docs/dev/wire-format.md#rate-of-a-tenant, #rates-and-number-of-streams).
 * Decisions use memory only. Processes exchange their state in the background, never blocking a push. If an
 * exchange fails, they continue with what they know.
 *
 *     push --> tenant's rate --> each stream: active or new? --> its rate --> store
 *                  |                          |
 *                  `---- exchange (at most every EXCHANGE_MS, only after a push) ----> others
 *
 * Pitfall: nothing runs between pushes. In a function that is frozen between requests, an exchange may end
 * with the next request.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Limits } from '../../../base/model/limits.ts';
import { LruCache } from '../../../base/model/lru.ts';
import { type Pace, UNPACED } from '../../../base/model/steps.ts';
import type { Clock, Ids } from '../../../base/ports/clock.ts';
import type { IngestExchange } from '../../../storage/catalog/ingest-exchange.ts';
import type { PushResult } from '../accept.ts';
import { MAX_KNOWN_STREAMS } from './bounds.ts';
import { exchangeDemand, exchangeStreams, firstRead } from './exchange.ts';
import { ALL, admitBy, type RateDecision, type RequestedRate } from './rate-decision.ts';
import { type Admission, STREAM_REASONS, type StreamLimitReason } from './refused-streams.ts';
import { StreamRates } from './stream-rates.ts';
import { streamRateOf, TenantState, tenantRateOf } from './tenant-state.ts';

/** The part of a logger that is used. pino fits. */
export interface RatesLog {
  warn(fields: object, message: string): void;
}

interface IngestRatesParts {
  readonly exchange: IngestExchange;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Receives warnings about failed exchanges. */
  readonly log?: RatesLog;
}

/** Streams decided per step: 2 ms. */
const STREAMS_AT_ONCE = 4096;

export class IngestRates {
  readonly #parts: IngestRatesParts;
  /** Identifies this process to the others, as long as it runs. */
  readonly #process: string;
  readonly #tenants = new LruCache<string, TenantState>(MAX_KNOWN_STREAMS);
  readonly #streamRates = new StreamRates();

  constructor(parts: IngestRatesParts) {
    this.#parts = parts;
    this.#process = parts.ids.randomHex(8);
  }

  /**
   * Decides which entries of a validated push may be stored, and lowers `result.totals` to them. A push above
   * the tenant's rate is refused whole. Never throws: unknown state allows the push.
   */
  async admit(tenant: string, limits: Limits, result: PushResult, pace: Pace = UNPACED): Promise<Admission> {
    return admitBy(tenant, result, asked => this.decide(tenant, limits, asked), pace);
  }

  /** Returns only the decision, for a push on another thread. `asked` has entries. */
  async decide(tenant: string, limits: Limits, asked: RequestedRate): Promise<RateDecision> {
    const state = this.#stateOf(tenant);
    const rate = tenantRateOf(limits);
    if (!state.rate.take(asked.bytes, rate, this.#parts.clock.nowMs())) {
      this.#exchangeIfDue(tenant, state, limits);
      return { kind: 'nothing', limitBytes: rate.bytesPerSecond };
    }
    await this.#readFirst(tenant, state, limits, asked);
    const decision = await this.#decideStreams(tenant, state, limits, asked);
    this.#exchangeIfDue(tenant, state, limits);
    return decision;
  }

  /**
   * Returns the bytes per second that all processes receive for a tenant, as last exchanged. Undefined if
   * there are none.
   */
  demandOf(tenant: string): number | undefined {
    const demand = this.#tenants.get(tenant)?.rate.demand ?? 0;
    return demand > 0 ? demand : undefined;
  }

  /** Active streams by tenant. They may include tenants whose pushes ended long ago. */
  *activeStreams(): Iterable<readonly [tenant: string, streams: number]> {
    for (const [tenant, { streams }] of this.#tenants.all()) yield [tenant, streams.active];
  }

  *createdStreams(): Iterable<readonly [tenant: string, streams: number]> {
    for (const [tenant, { created }] of this.#tenants.all()) yield [tenant, created];
  }

  #stateOf(tenant: string): TenantState {
    let state = this.#tenants.get(tenant);
    if (state === undefined) this.#tenants.set(tenant, (state = new TenantState()), state.weight);
    return state;
  }

  /**
   * Waits for announcements of other processes if none were read and a stream of the push depends on them.
   */
  async #readFirst(
    tenant: string,
    state: TenantState,
    { maxGlobalStreamsPerUser }: Limits,
    { hashes }: RequestedRate,
  ): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    state.streams.startHour(nowMs);
    if (maxGlobalStreamsPerUser <= 0) return;
    if (state.firstRead === undefined) {
      if (!state.streams.isUnread(nowMs)) return;
      if (hashes.every(hash => state.streams.isActive(hash))) return;
      state.firstRead = firstRead(this.#parts, tenant, state.streams)
        .catch(error => this.#failed(tenant, error))
        .finally(() => (state.firstRead = undefined));
    }
    await state.firstRead;
  }

  async #decideStreams(
    tenant: string,
    state: TenantState,
    limits: Limits,
    { indexes, hashes, bytesOf }: RequestedRate,
  ): Promise<RateDecision> {
    const nowMs = this.#parts.clock.nowMs();
    const { streams, shares } = state;
    const streamRate = streamRateOf(limits);
    streams.startHour(nowMs);
    const sizeBefore = streams.size;
    const activeBefore = streams.active;
    const refused = new Uint32Array(indexes.length);
    const reasons = new Uint8Array(indexes.length);
    let count = 0;
    const refuse = (index: number, reason: StreamLimitReason) => {
      refused[count] = index;
      reasons[count++] = STREAM_REASONS.indexOf(reason);
    };
    for (let i = 0; i < indexes.length; i++) {
      const hash = hashes[i];
      if (!streams.admit(hash, limits)) refuse(indexes[i], 'stream_limit');
      else if (!this.#streamRates.take({ tenant, hash, shares }, bytesOf[i], streamRate, nowMs)) {
        refuse(indexes[i], 'per_stream_rate_limit');
      }
      if (i % STREAMS_AT_ONCE === STREAMS_AT_ONCE - 1) await nextRound();
    }
    state.created += streams.active - activeBefore;
    // The weight follows the size of the state, so the state of other tenants may be evicted.
    if (streams.size !== sizeBefore)
      this.#tenants.set(tenant, state, Math.min(state.weight, MAX_KNOWN_STREAMS));
    if (count === 0) return ALL;
    return {
      kind: 'some',
      refused: { indexes: refused.slice(0, count), reasons: reasons.slice(0, count) },
      limitBytes: streamRate.bytesPerSecond,
    };
  }

  /** Starts an exchange if one is due and there is something to report. No caller awaits it. */
  #exchangeIfDue(tenant: string, state: TenantState, limits: Limits): void {
    const rate = tenantRateOf(limits);
    const hasDemand = state.hasDemand(rate);
    const hasUnannounced = state.streams.hasUnannounced;
    if (!hasDemand && !hasUnannounced) return;
    const nowMs = this.#parts.clock.nowMs();
    const exchange = state.beginExchange(nowMs);
    if (exchange === undefined) return;
    const parts = this.#parts;
    const process = this.#process;
    const streamRates = this.#streamRates;
    const tasks: Promise<void>[] = [];
    if (hasDemand) tasks.push(exchangeDemand(parts, { tenant, state, process, rate, limits, streamRates }));
    if (hasUnannounced) tasks.push(exchangeStreams(parts, { tenant, process, streams: state.streams }));
    void Promise.allSettled(tasks).then(results => {
      state.endExchange(exchange);
      for (const settled of results) if (settled.status === 'rejected') this.#failed(tenant, settled.reason);
    });
  }

  #failed(tenant: string, error: unknown): void {
    this.#parts.log?.warn(
      { tenant, err: error },
      'rate limit exchange failed; the limits use the last known state',
    );
  }
}

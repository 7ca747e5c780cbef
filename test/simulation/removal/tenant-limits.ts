/** The limits of each tenant as they are now, and as they were: retention and the mode of deletion change during a run. */
import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import { NS_PER_MS } from '../../../shared/base/model/time-units.ts';
import type { Clock } from '../../../shared/base/ports/clock.ts';
import { streamOf } from '../../support/rows.ts';
import type { SimulatedEntry } from '../model.ts';

type RemovalLimits = Pick<Limits, 'deletionMode' | 'retentionPeriodNs' | 'retentionStream'>;

interface InForce {
  readonly limits: Limits;
  /** Meaning of the rules. */
  readonly periodNsOf: (entry: SimulatedEntry) => bigint;
  /** Unix ms; Infinity for the current limits. */
  untilMs: number;
}

export class TenantLimits {
  readonly #clock: Clock;
  readonly #past = new Map<string, InForce[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly of = (tenant: string): Limits => this.#newest(tenant).limits;

  /** Holds from now on. Rules select by one label, `{name="value"}`, as `periodNsOf` reads them. */
  set(tenant: string, limits: RemovalLimits): void {
    this.#newest(tenant).untilMs = this.#clock.nowMs();
    this.#past.get(tenant)!.push(inForce(limits));
  }

  /** True if the entry was expired at `nowMs` under some limits that applied since `sinceMs`. */
  mayBeExpired(tenant: string, entry: SimulatedEntry, sinceMs: number, nowMs: number): boolean {
    return this.#since(tenant, sinceMs).some(one => isExpired(one, entry, nowMs));
  }

  /** True if it was expired at `nowMs` under all of them. */
  isExpired(tenant: string, entry: SimulatedEntry, sinceMs: number, nowMs: number): boolean {
    return this.#since(tenant, sinceMs).every(one => isExpired(one, entry, nowMs));
  }

  /** True if delete requests were disabled at some time since then. */
  wasPaused(tenant: string, sinceMs: number): boolean {
    return this.#since(tenant, sinceMs).some(({ limits }) => limits.deletionMode !== 'filter-and-delete');
  }

  #since(tenant: string, ms: number): readonly InForce[] {
    this.#newest(tenant);
    return this.#past.get(tenant)!.filter(({ untilMs }) => untilMs >= ms);
  }

  #newest(tenant: string): InForce {
    let past = this.#past.get(tenant);
    if (past === undefined) this.#past.set(tenant, (past = [inForce(DEFAULT_LIMITS)]));
    return past[past.length - 1];
  }
}

function inForce({ deletionMode, retentionPeriodNs, retentionStream }: RemovalLimits): InForce {
  const limits = { ...DEFAULT_LIMITS, deletionMode, retentionPeriodNs, retentionStream };
  const rules = retentionStream.map(({ selector, periodNs, priority }) => ({ selector, periodNs, priority }));
  const periodNsOf = (entry: SimulatedEntry): bigint => {
    const { labels } = streamOf(entry.labels);
    const fitting = rules.filter(({ selector }) =>
      labels.some(({ name, value }) => selector === `{${name}="${value}"}`),
    );
    const most = Math.max(...fitting.map(({ priority }) => priority));
    return fitting.find(({ priority }) => priority === most)?.periodNs ?? retentionPeriodNs;
  };
  return { limits, periodNsOf, untilMs: Number.POSITIVE_INFINITY };
}

function isExpired({ periodNsOf }: InForce, entry: SimulatedEntry, nowMs: number): boolean {
  const periodNs = periodNsOf(entry);
  return periodNs > 0n && entry.ns < BigInt(Math.trunc(nowMs)) * NS_PER_MS - periodNs;
}

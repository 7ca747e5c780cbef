/**
 * Limits failed authentication attempts per address. Each lookup of a token uses one attempt, and attempts
 * refill over time. Known tokens need no lookup, so an attacker behind the same proxy locks out no client.
 */
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';

/** Burst of attempts, so that a fleet of agents with a wrong token behind one address can start. */
export const MAX_ATTEMPTS = 30;
const ATTEMPTS_PER_SECOND = 1;
/** Maximum number of tracked addresses. The table's throttling limits an attacker with more addresses. */
const MAX_ADDRESSES = 10_000;

interface Allowance {
  left: number;
  countedMs: number;
}

export class FailedAttempts {
  readonly #clock: Clock;
  readonly #byAddress = new LruCache<string, Allowance>(MAX_ADDRESSES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns false if the address failed too often. Running attempts count too, so concurrent ones get no
   * further.
   */
  take(address: string): boolean {
    const allowance = this.#of(address);
    if (allowance.left < 1) return false;
    allowance.left--;
    return true;
  }

  /** Returns the attempt after it succeeded or could not be made. */
  release(address: string): void {
    const allowance = this.#of(address);
    allowance.left = Math.min(MAX_ATTEMPTS, allowance.left + 1);
  }

  #of(address: string): Allowance {
    const key = networkOf(address);
    const nowMs = this.#clock.nowMs();
    const allowance = this.#byAddress.get(key) ?? { left: MAX_ATTEMPTS, countedMs: nowMs };
    const back = (Math.max(0, nowMs - allowance.countedMs) / 1000) * ATTEMPTS_PER_SECOND;
    allowance.left = Math.min(MAX_ATTEMPTS, allowance.left + back);
    allowance.countedMs = nowMs;
    this.#byAddress.set(key, allowance);
    return allowance;
  }
}

/** Maps IPv6 addresses to their /64 network, because its owner has 2^64 addresses. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head, tail] = address.split('::') as [string, string | undefined];
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    while (groups.length + last.length < 8) groups.push('0');
    groups.push(...last);
  }
  return groups.slice(0, 4).join(':');
}

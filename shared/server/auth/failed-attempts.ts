/**
 * Bounds what failed attempts may cost: each of an address takes one of its turns, which come back with time. Only looking a
 * token up takes a turn; who is known asks no table, so an attacker behind the same proxy keeps nobody out.
 */
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';

/** A fleet of agents with a wrong token behind one address may start at once. */
export const MAX_TURNS = 30;
const TURNS_PER_SECOND = 1;
/** What an attacker with more addresses gains is bounded by the table's own throttling. */
const MAX_ADDRESSES = 10_000;

interface Turns {
  left: number;
  countedMs: number;
}

export class FailedAttempts {
  readonly #clock: Clock;
  readonly #byAddress = new LruCache<string, Turns>(MAX_ADDRESSES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** False where the address has failed too often. Attempts under way have taken their turn, so many at once get no further. */
  take(address: string): boolean {
    const turns = this.#of(address);
    if (turns.left < 1) return false;
    turns.left--;
    return true;
  }

  /** The attempt was none: it succeeded, or could not be made. */
  giveBack(address: string): void {
    const turns = this.#of(address);
    turns.left = Math.min(MAX_TURNS, turns.left + 1);
  }

  #of(address: string): Turns {
    const key = networkOf(address);
    const nowMs = this.#clock.nowMs();
    const turns = this.#byAddress.get(key) ?? { left: MAX_TURNS, countedMs: nowMs };
    const back = (Math.max(0, nowMs - turns.countedMs) / 1000) * TURNS_PER_SECOND;
    turns.left = Math.min(MAX_TURNS, turns.left + back);
    turns.countedMs = nowMs;
    this.#byAddress.set(key, turns);
    return turns;
  }
}

/** An owner of IPv6 addresses has 2^64 of them: those of one such network count as one. */
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

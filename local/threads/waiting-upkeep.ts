/**
 * Delays the upkeep of pushed data while pushes need the cores. Merged data answers queries faster, but no client
 * waits for it. A merge next to a full-speed ingest slows the pushes even at a low
 * priority: both use the same caches and memory bandwidth, and often one physical core.
 *
 *     pushed, filled --> waits while the ingest threads are busy --> upkeep
 *
 * Upkeep does not wait while the merge backlog is urgent, and never longer than until the next scheduled compaction,
 * which does not wait either.
 */
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { MergeTicket } from '../../shared/upkeep/compaction/merge-backlog.ts';

/** Pushes need the cores if the ingest threads are busy for at least this part of a period. */
const BUSY_PART = 1 / 2;
const PERIOD_MS = 1_000;

/** Time of a thread since its start, ms. */
interface ThreadTime {
  readonly active: number;
  readonly idle: number;
}

interface WaitingUpkeepOptions {
  /** Times of the ingest threads of one front: the system divides connections evenly among fronts. */
  readonly ingestTimes: () => readonly ThreadTime[];
  readonly isUrgent: () => boolean;
  /** Starts the upkeep thread, if it is not running. */
  readonly startThread: () => void;
  /** Called once for the last ticket of a day. Must not throw. */
  readonly merge: (ticket: MergeTicket) => void;
  /** Maximum time to wait, ms. */
  readonly maxWaitMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
}

export class WaitingUpkeep {
  readonly #options: WaitingUpkeepOptions;
  readonly #stopping = new AbortController();
  /** The last ticket of each day covers the earlier ones. The merge backlog bounds the number of days. */
  readonly #waiting = new Map<string, MergeTicket>();
  #isPushed = false;
  /** Once started, the thread runs until the process stops. */
  #isStarted = false;
  #isWatching = false;

  constructor(options: WaitingUpkeepOptions) {
    this.#options = options;
  }

  /** Starts the upkeep thread after the first period in which the ingest threads are not busy. */
  pushed(): void {
    if (this.#isStarted) return;
    this.#isPushed = true;
    this.#watch();
  }

  /** The same for a merge that pushes filled. */
  filled(ticket: MergeTicket): void {
    if (ticket.through === 0) {
      // The merge backlog does not count this day, so nothing would bound the number of such tickets.
      this.#options.merge(ticket);
      return;
    }
    this.#waiting.set(`${ticket.day}/${ticket.tenant}`, ticket);
    this.#watch();
  }

  /** Drops the merges that wait, because the upkeep thread that starts finds them by itself. */
  clear(): void {
    this.#waiting.clear();
  }

  stop(): void {
    this.#stopping.abort();
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#untilQuiet().then(isStopped => {
      this.#isWatching = false;
      if (!isStopped) this.#startAll();
    });
  }

  /** Returns false when upkeep may start, and true if the process stops. */
  async #untilQuiet(): Promise<boolean> {
    const { clock, ingestTimes, isUrgent, maxWaitMs } = this.#options;
    const { signal } = this.#stopping;
    for (let waitedMs = 0; waitedMs < maxWaitMs; waitedMs += PERIOD_MS) {
      const before = sumOf(ingestTimes());
      await clock.sleep(PERIOD_MS, signal).catch(() => undefined);
      if (signal.aborted) return true;
      const after = sumOf(ingestTimes());
      const active = after.active - before.active;
      const idle = after.idle - before.idle;
      // A thread that was lost takes its time along: a negative difference is no reason to wait.
      if (isUrgent() || active <= 0 || active < BUSY_PART * (active + idle)) return false;
    }
    return signal.aborted;
  }

  #startAll(): void {
    if (this.#isPushed && !this.#isStarted) {
      this.#isStarted = true;
      this.#options.startThread();
    }
    const tickets = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const ticket of tickets) this.#options.merge(ticket);
  }
}

function sumOf(times: readonly ThreadTime[]): ThreadTime {
  return times.reduce((sum, { active, idle }) => ({ active: sum.active + active, idle: sum.idle + idle }), {
    active: 0,
    idle: 0,
  });
}

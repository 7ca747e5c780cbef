/**
 * How threads beside the one that serves give way to requests of those who work little. Their priority is lower, but a scheduler lets
 * what runs end its slice of some milliseconds first, and a request wakes the serving thread a dozen times: it would wait for a core
 * in each.
 *
 *     request          |--------------|
 *     thread   ## ## ## #              # ## ##      # a piece of work; the next one gives way
 *
 * The first of those waits is before anybody knows of the request: so while requests come, a thread lets go of its core for a moment
 * after each slice of work.
 *
 * What a reader would get wrong: nobody is kept from working. A request counts while it is young, a piece waits for some times what
 * the one before took, and a thread waits no longer than it works: where small requests never end, it has half of its time.
 */
import { leftToWaitMs, MAX_WAIT_MS, YOUNG_MS } from './tenant-load.ts';

/** Int32 cells: requests under way, when the youngest of them began (the low bits of Unix ms), and one that nobody changes. */
const COUNT = 0;
const BEGUN = 1;
const NOTHING = 2;
const CELLS = 3;
/** Requests come where the last one began less than this ago. */
const COMING_MS = 1000;
/** Of work; shorter than what Linux runs on a core before it looks who else waits (2.8 ms, a tick of 4). */
const SLICE_MS = 1.5;
/** Any sleep does; Linux adds 50 us. */
const LET_GO_MS = 0.05;

export interface BoardOptions {
  /** Of another thread's board; default: memory of its own. */
  readonly memory?: SharedArrayBuffer;
  /** Unix ms, the same in all threads. */
  readonly nowMs?: () => number;
  /** Lets go of the core for a moment; default: sleeps without an event loop. */
  readonly letGo?: () => void;
}

export class RequestBoard {
  /** To be given to other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array<SharedArrayBuffer>;
  readonly #nowMs: () => number;
  /** Of the last piece of work in this thread. */
  #lastMs = 0;
  #endedMs = 0;
  /** What it may wait: as much as it has worked. */
  #creditMs = 0;
  /** Since it let go of its core. */
  #workedMs = 0;
  readonly #letGo: () => void;

  constructor(options: BoardOptions = {}) {
    const { memory = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT), nowMs = Date.now } =
      options;
    this.memory = memory;
    this.#cells = new Int32Array(memory);
    this.#nowMs = nowMs;
    this.#letGo = options.letGo ?? (() => void Atomics.wait(this.#cells, NOTHING, 0, LET_GO_MS));
  }

  /** In the thread that serves: a request is at hand. Returns what is to be called when it is answered. */
  begin(): () => void {
    let isOver = false;
    Atomics.store(this.#cells, BEGUN, this.#nowMs() | 0);
    Atomics.add(this.#cells, COUNT, 1);
    return () => {
      if (isOver) return;
      isOver = true;
      if (Atomics.sub(this.#cells, COUNT, 1) === 1) Atomics.notify(this.#cells, COUNT);
    };
  }

  /** In another thread: a piece of work that took so long has ended. */
  note(tookMs: number): void {
    this.#lastMs = tookMs;
    this.#endedMs = this.#nowMs();
    this.#creditMs = Math.min(this.#creditMs + tookMs, MAX_WAIT_MS);
    this.#workedMs += tookMs;
    if (this.#workedMs < SLICE_MS) return;
    this.#workedMs = 0;
    if (this.#ageMs(this.#endedMs) < COMING_MS) this.#letGo();
  }

  /**
   * How long the next piece of this thread gives way at most, ms; 0 where it may come.
   * @param times what the piece before took that it waits
   */
  waitMs(times: number): number {
    if (Atomics.load(this.#cells, COUNT) === 0) return 0;
    const now = this.#nowMs();
    const left = leftToWaitMs({ lastMs: this.#lastMs, endedMs: this.#endedMs }, times, now);
    const ms = Math.min(left, YOUNG_MS - this.#ageMs(now), this.#creditMs);
    // The clock counts in ms: what is shorter would be waited again and again.
    return ms >= 1 ? ms : 0;
  }

  /** Resolves when all requests are answered, after `ms` at the latest. */
  async rest(ms: number): Promise<void> {
    const count = Atomics.load(this.#cells, COUNT);
    // Another that begins or ends meanwhile wakes nobody, and the time is over soon.
    if (count === 0) return;
    const startedMs = this.#nowMs();
    await Atomics.waitAsync(this.#cells, COUNT, count, ms).value;
    this.#creditMs -= this.#nowMs() - startedMs;
  }

  /** Of the youngest request; very old where there was none, or where the clock was set back. */
  #ageMs(now: number): number {
    return (now - Atomics.load(this.#cells, BEGUN)) >>> 0;
  }
}

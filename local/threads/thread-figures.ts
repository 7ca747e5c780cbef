/**
 * Metrics of threads, which count separately. Sums never decrease: the last counts of a lost thread are kept.
 * A thread that does not respond in time, because of a long step, contributes its last counts.
 */
import {
  type Exposition,
  ExpositionSum,
  parseExposition,
  printExposition,
  withoutGauges,
} from '../../shared/server/admin/metrics/exposition.ts';
import { MAX_NAMED_TENANTS } from '../../shared/server/admin/metrics/ingest-metrics.ts';
import { within } from './within.ts';

export interface CountingThread {
  readonly name: string;
  /** Number of starts. Each start counts from 0. */
  readonly starts: number;
  /** Text of its metrics. Rejects if the thread is lost. */
  readonly text: () => Promise<string>;
}

/** Timeout for a thread to respond. A scrape of Prometheus waits for 10 s. */
const ANSWER_MS = 2_000;

interface LastFigures {
  readonly starts: number;
  readonly text: string;
}

export class ThreadFigures {
  readonly #answerMs: number;
  readonly #seen = new Map<string, LastFigures>();
  /** Pending requests. Each thread gets one at a time. */
  readonly #asked = new Map<string, Promise<void>>();
  readonly #lost = new ExpositionSum({ maxTenants: MAX_NAMED_TENANTS });

  constructor({ answerMs = ANSWER_MS } = {}) {
    this.#answerMs = answerMs;
  }

  /** Texts to add up. Resolves in bounded time. */
  async texts(threads: readonly CountingThread[]): Promise<string[]> {
    await Promise.all(threads.map(thread => within(this.#answerMs, this.#ask(thread))));
    const texts = [...this.#seen.values()].map(({ text }) => text);
    return [...texts, printExposition(this.#lost.all as Exposition)];
  }

  #ask(thread: CountingThread): Promise<void> {
    const { name } = thread;
    let asked = this.#asked.get(name);
    if (asked === undefined) {
      asked = this.#note(thread).finally(() => this.#asked.delete(name));
      this.#asked.set(name, asked);
    }
    return asked;
  }

  async #note({ name, starts, text: ask }: CountingThread): Promise<void> {
    const text = await ask().catch(() => undefined);
    if (text === undefined) return;
    const before = this.#seen.get(name);
    if (before !== undefined && before.starts !== starts)
      this.#lost.add(withoutGauges(parseExposition(before.text)));
    this.#seen.set(name, { starts, text });
  }
}

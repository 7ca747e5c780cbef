/**
 * Metrics of threads, which count by themselves. The sum never goes down: what a thread had counted when it was asked last stays when
 * it is lost, and a thread that does not answer in time, because it is at a long step, counts as when it was asked last.
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
  /** Times that it was started: with each it counts from 0. */
  readonly starts: number;
  /** Text of its metrics. Rejects if the thread is lost. */
  readonly text: () => Promise<string>;
}

/** For a thread to answer: a scrape of Prometheus waits for 10 s. */
const ANSWER_MS = 2_000;

interface Seen {
  readonly starts: number;
  readonly text: string;
}

export class ThreadFigures {
  readonly #answerMs: number;
  readonly #seen = new Map<string, Seen>();
  /** Questions without an answer: a thread is asked once at a time. */
  readonly #asked = new Map<string, Promise<void>>();
  readonly #lost = new ExpositionSum({ maxTenants: MAX_NAMED_TENANTS });

  constructor({ answerMs = ANSWER_MS } = {}) {
    this.#answerMs = answerMs;
  }

  /** Texts to be added up. Resolves in bounded time. */
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

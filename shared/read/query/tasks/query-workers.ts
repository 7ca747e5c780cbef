/** Where the tasks of all queries go: in fair turns between tenants to whatever invoker there is. */

import { ClientError } from '../../../base/model/errors.ts';
import type { MemoryBudget } from '../../../base/model/memory-budget.ts';
import type { Invoker, InvokerFigures } from '../../../base/ports/invoker.ts';
import { beginPart } from '../../../base/ports/read-trace.ts';
import { AdmissionQueue } from '../../../base/scheduling/admission-queue.ts';
import type { AnswerCache } from './answer-cache.ts';
import { decodeAnswer, isAnswer } from './answer-codec.ts';
import { TASK_SIZES, type TaskSizes } from './plan-tasks.ts';
import { KEPT, type Task, type TaskAnswer } from './task.ts';
import { encodeTask } from './task-codec.ts';

/** Tasks of a tenant that wait: 1,000 queries with a full window each on a machine of 16 workers. */
const MAX_WAITING_TASKS = 32_000;

export interface TaskOptions {
  readonly affinity: number;
  readonly signal: AbortSignal;
  /** Of the query: what the answer takes until it is merged is charged to it. */
  readonly budget: MemoryBudget;
}

/** Totals since the start, for metrics. */
export interface WorkerFigures {
  tasks: number;
  failed: number;
  cancelled: number;
  taskBytes: number;
  answerBytes: number;
}

/** An answer that holds memory until it is released. */
export interface HeldAnswer {
  readonly answer: TaskAnswer;
  release(): void;
}

export interface QueryWorkersOptions {
  readonly sizes?: TaskSizes;
  /** Without it no answer is kept. */
  readonly cache?: AnswerCache;
}

export class QueryWorkers {
  readonly figures: WorkerFigures = { tasks: 0, failed: 0, cancelled: 0, taskBytes: 0, answerBytes: 0 };
  readonly sizes: TaskSizes;
  readonly #invoker: Invoker;
  readonly #cache: AnswerCache | undefined;
  readonly #queue: AdmissionQueue;

  constructor(invoker: Invoker, { sizes = TASK_SIZES, cache }: QueryWorkersOptions = {}) {
    this.#invoker = invoker;
    this.#cache = cache;
    this.sizes = sizes;
    this.#queue = new AdmissionQueue({ slots: invoker.slots, maxWaiting: MAX_WAITING_TASKS });
  }

  /** Undefined where workers are no invocations. */
  get invocations(): InvokerFigures | undefined {
    return this.#invoker.figures;
  }

  get slots(): number {
    return this.#invoker.slots;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get running(): number {
    return this.#queue.active;
  }

  /** Throws what the task failed with, the signal's reason, and what the invoker throws. */
  async run(task: Task, { affinity, signal, budget }: TaskOptions): Promise<HeldAnswer> {
    const { figures } = this;
    const invoker = this.#invoker;
    const cache = this.#cache;
    try {
      let isKnown = false;
      let end: ReturnType<typeof beginPart> | undefined;
      const bytes = await this.#queue.run(task.tenant, signal, async () => {
        // Not before its turn: what waits is the plan that it is made of.
        const encoded = encodeTask(task);
        const key = cache?.keyOf(task, encoded);
        const known = key === undefined ? undefined : cache?.get(key);
        isKnown = known !== undefined;
        if (known !== undefined) return known;
        figures.tasks++;
        figures.taskBytes += encoded.length;
        end = beginPart();
        const answer = await invoker.invoke(encoded, { signal, affinity });
        figures.answerBytes += answer.length;
        if (key !== undefined && isAnswer(answer)) cache?.set(key, answer, answer.buffer.byteLength);
        return answer;
      });
      const held = HELD_FACTOR * bytes.length;
      budget.reserve(held);
      const answer = decodeAnswer(bytes);
      end?.({ ranIn: answer.place, reads: answer.reads });
      return { answer: isKnown ? readNothing(answer) : answer, release: () => budget.release(held) };
    } catch (error) {
      if (signal.aborted) figures.cancelled++;
      else if (!(error instanceof ClientError)) figures.failed++;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#invoker.close();
  }
}

/** An answer that was kept: what it looked at counts, as it bounds the query, but nothing was read. */
function readNothing(answer: TaskAnswer): TaskAnswer {
  return {
    ...answer,
    place: KEPT,
    reads: [],
    figures: { ...answer.figures, pagesRead: 0, compressedBytes: 0, downloadNs: 0 },
  };
}

/** The bytes, and what they are decoded to. */
const HELD_FACTOR = 2;

/** Dispatches the tasks of all queries to an invoker, with fair scheduling between tenants. */

import { ClientError } from '../../../base/model/errors.ts';
import type { MemoryBudget } from '../../../base/model/memory-budget.ts';
import type { Invoker, InvokerFigures } from '../../../base/ports/invoker.ts';
import { beginPart } from '../../../base/ports/read-trace.ts';
import { AdmissionQueue } from '../../../base/scheduling/admission-queue.ts';
import type { AnswerCache } from './answer-cache.ts';
import { decodeTaskAnswer, isTaskAnswer } from './answer-codec.ts';
import { TASK_SIZES, type TaskSizes } from './plan-tasks.ts';
import { RAN_IN_CACHE, type Task, type TaskAnswer } from './task.ts';
import { encodeTask } from './task-codec.ts';

/** Maximum waiting tasks of a tenant: 1,000 queries with a full window each on a machine of 16 workers. */
const MAX_WAITING_TASKS = 32_000;

interface TaskOptions {
  readonly affinity: number;
  readonly signal: AbortSignal;
  /** Memory budget of the query, which a result is charged to until it is merged. */
  readonly budget: MemoryBudget;
}

/** Totals since the start, for metrics. */
interface WorkerFigures {
  tasks: number;
  failed: number;
  canceled: number;
  taskBytes: number;
  answerBytes: number;
}

/** A result that holds memory until it is released. */
export interface HeldAnswer {
  readonly answer: TaskAnswer;
  /** Size when encoded. */
  readonly bytes: number;
  release(): void;
}

interface QueryWorkersOptions {
  readonly sizes?: TaskSizes;
  /** Default: no result is cached. */
  readonly cache?: AnswerCache;
}

export class QueryWorkers {
  readonly figures: WorkerFigures = { tasks: 0, failed: 0, canceled: 0, taskBytes: 0, answerBytes: 0 };
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

  /** Undefined if workers are not invocations. */
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

  /** Throws the failure of the task, the signal's reason, and errors of the invoker. */
  async run(task: Task, { affinity, signal, budget }: TaskOptions): Promise<HeldAnswer> {
    const { figures } = this;
    const invoker = this.#invoker;
    const cache = this.#cache;
    try {
      let isKnown = false;
      let end: ReturnType<typeof beginPart> | undefined;
      const bytes = await this.#queue.run(task.tenant, signal, async () => {
        // Encoded only now: a waiting task costs no more than the plan that it is made of.
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
        if (key !== undefined && isTaskAnswer(answer)) cache?.set(key, answer, answer.buffer.byteLength);
        return answer;
      });
      const held = HELD_FACTOR * bytes.length;
      budget.reserve(held);
      const answer = decodeTaskAnswer(bytes);
      end?.({ ranIn: answer.ranIn, reads: answer.reads });
      return {
        answer: isKnown ? readNothing(answer) : answer,
        bytes: bytes.length,
        release: () => budget.release(held),
      };
    } catch (error) {
      if (signal.aborted) figures.canceled++;
      else if (!(error instanceof ClientError)) figures.failed++;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#invoker.close();
  }
}

/** Cached result: its scanned bytes count, because they bound the query, but nothing was read. */
function readNothing(answer: TaskAnswer): TaskAnswer {
  return {
    ...answer,
    ranIn: RAN_IN_CACHE,
    reads: [],
    figures: { ...answer.figures, pagesRead: 0, compressedBytes: 0, downloadNs: 0 },
  };
}

/** Bytes of a result and of its decoded form. */
const HELD_FACTOR = 2;

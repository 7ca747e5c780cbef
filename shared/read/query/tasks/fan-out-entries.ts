/**
 * Fans out the pages of a log query to workers, in the direction of the query, and stops when the limit is
 * reached. The caller scans the first megabytes: most queries with a limit end there, and need no worker.
 */

import { invariant } from '../../../base/model/errors.ts';
import type { LogExpr } from '../../../language/logql/ast.ts';
import { formatExpr } from '../../../language/logql/printer.ts';
import type { PlannedPage } from '../day-plan.ts';
import type { LogCollector } from '../log-collector.ts';
import type { PagesOfPlan } from '../metric-scan.ts';
import type { TenantView } from '../tenant-view.ts';
import type { Visible } from '../visibility.ts';
import { FanOut } from './fan-out.ts';
import { FanOutFigures, type FanOutParts, MAX_PRINTED_LENGTH, widthOf } from './fan-out-common.ts';
import { affinityOf, costOfPage, cutIntoTasks, taskMaker } from './plan-tasks.ts';
import type { LogAsk } from './task.ts';

/**
 * Initial number of concurrent tasks, doubled with each result. A query that reaches its limit early then
 * wastes few.
 */
const FIRST_WIDTH = 2;

interface LogFanOutQuery {
  readonly expr: LogExpr;
  readonly limit: number;
  readonly backward: boolean;
  readonly categorize: boolean;
  readonly field?: string | undefined;
}

/** A day of one tenant. */
interface DayOfEntries {
  readonly from: PagesOfPlan;
  readonly view: TenantView;
  readonly visible: Visible;
  readonly collector: LogCollector;
  /** Called with pages whose entries were merged. */
  readonly covers: (pages: readonly PlannedPage[]) => void;
}

export class EntryFanOut {
  readonly #parts: FanOutParts;
  readonly #ask: Omit<LogAsk, 'bound'>;
  readonly #fanOut: FanOut;
  readonly #figures: FanOutFigures;
  #inlineBytes = 0;
  /** True until a task is added. */
  isIdle = true;

  constructor(parts: FanOutParts, { expr, limit, backward, categorize, field }: LogFanOutQuery) {
    this.#parts = parts;
    this.#ask = { kind: 'log', query: formatExpr(expr), limit, backward, categorize, field };
    this.#fanOut = new FanOut({ signal: parts.signal, firstWidth: FIRST_WIDTH, maxWidth: widthOf(parts) });
    this.#figures = new FanOutFigures(parts);
  }

  /**
   * Returns how many of the pages, from the first on, the caller scans before it passes the others to `add`.
   */
  inlinePageCount(pages: readonly PlannedPage[]): number {
    if (this.#ask.query.length > MAX_PRINTED_LENGTH) return pages.length;
    const { workers } = this.#parts;
    const maxBytes = workers.sizes.inlineBytes;
    let count = 0;
    while (count < pages.length && this.#inlineBytes < maxBytes) {
      this.#inlineBytes += costOfPage(pages[count++], true);
    }
    return count;
  }

  /**
   * Starts tasks for the pages while the day's collector can use them. Calls `isOver` before each. Throws
   * errors of tasks.
   */
  async add({ from, view, visible, collector, covers }: DayOfEntries, isOver: () => boolean): Promise<void> {
    const { plan, overlaps, pages } = from;
    const { tenant, isLabeled } = view;
    const { workers, memory } = this.#parts;
    this.isIdle = false;
    const maker = taskMaker({ tenant, isLabeled, plan, overlaps, visible });
    for (const { pages: some } of cutIntoTasks(pages, true, workers.sizes)) {
      // Pages are in the direction of the query: if the first does not reach the bound, none does.
      const [{ first: earliest, last: latest }] = some;
      if (isOver() || !collector.reaches(earliest, latest)) return;
      const task = maker.make(some, { ...this.#ask, bound: collector.bound });
      const affinity = affinityOf(some);
      await this.#fanOut.add(
        signal => workers.run(task, { affinity, signal, budget: memory }),
        ({ answer, release }) => {
          invariant(answer.kind === 'log', 'a log task returns entries');
          this.#figures.add(answer, task.records);
          for (const { record, hash, ...entry } of answer.entries) {
            const chunk = task.records[record];
            invariant(chunk !== undefined, 'an entry of a task is from one of its chunks');
            collector.take({ ...entry, source: { hash }, chunk });
          }
          collector.settle();
          covers(some);
          release();
        },
        () => !isOver() && collector.reaches(earliest, latest),
      );
    }
  }

  /** Calls `done` when everything added before is merged. */
  async whenMerged(done: () => void): Promise<void> {
    await this.#fanOut.add(async () => undefined, done);
  }

  /** Waits for all tasks, or until `isOver`. Throws errors of tasks. */
  async finish(isOver: () => boolean): Promise<void> {
    await this.#fanOut.drain(isOver);
    this.#figures.finish();
  }

  /** Call it however the query ends. */
  stop(): void {
    this.#fanOut.stop();
  }
}

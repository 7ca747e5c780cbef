/** Hands the pages of a range aggregation to workers, and adds up what they make of them. */

import { invariant } from '../../../base/model/errors.ts';
import type { Leaf } from '../../../execution/metrics/plan.ts';
import { RangeAccumulator } from '../../../execution/metrics/range-accumulator.ts';
import { formatExpr } from '../../../language/logql/printer.ts';
import type { MetricScan, PagesOfPlan } from '../metric-scan.ts';
import type { TenantView } from '../tenant-view.ts';
import type { Visible } from '../visibility.ts';
import { FanOut } from './fan-out.ts';
import { MAX_PRINTED_LENGTH, SpreadFigures, type SpreadParts, widthOf } from './fan-out-common.ts';
import { affinityOf, costOf, cutIntoTasks, taskMaker } from './plan-tasks.ts';
import type { MetricAsk, TaskAnswer } from './task.ts';

/** What of the pages is seen. */
export interface SeenBy {
  readonly view: TenantView;
  readonly visible: Visible;
}

export class SampleFanOut {
  private readonly parts: SpreadParts;
  private readonly scan: MetricScan;
  private readonly ask: MetricAsk;
  private readonly fanOut: FanOut;
  private readonly figures: SpreadFigures;
  private inlineBytes = 0;
  private isSpread = false;

  constructor(parts: SpreadParts, scan: MetricScan, { node, grouping }: Leaf) {
    this.parts = parts;
    this.scan = scan;
    this.ask = { kind: 'metric', query: formatExpr(node), spec: scan.accumulator.spec, grouping };
    const maxWidth = widthOf(parts);
    this.fanOut = new FanOut({ signal: parts.signal, firstWidth: maxWidth, maxWidth });
    this.figures = new SpreadFigures(parts);
  }

  /**
   * True where workers do it: the answers are merged by then, or when `finish` is called. False where the caller is to scan
   * the pages: they are few, and so were all before them. Throws what tasks fail with.
   */
  async takes(from: PagesOfPlan, { view, visible }: SeenBy): Promise<boolean> {
    const { plan, overlaps, pages } = from;
    const { extractor } = this.scan;
    const readsLines = extractor.needs.lines === 'bytes';
    if (!this.isSpread) {
      let bytes = this.inlineBytes;
      for (const page of pages) bytes += costOf(page, readsLines);
      const { workers } = this.parts;
      if (bytes <= workers.sizes.inlineBytes || this.ask.query.length > MAX_PRINTED_LENGTH) {
        this.inlineBytes = bytes;
        return false;
      }
      // From here on all is added in the order of the tasks: what is scanned here would come before it.
      this.isSpread = true;
    }
    const { workers, memory } = this.parts;
    const { tenant, isLabelled } = view;
    const maker = taskMaker({ tenant, isLabelled, plan, overlaps, visible });
    for (const { pages: some } of cutIntoTasks(pages, readsLines, workers.sizes)) {
      const task = maker.make(some, this.ask);
      const affinity = affinityOf(some);
      await this.fanOut.add(
        signal => workers.run(task, { affinity, signal, budget: memory }),
        ({ answer, release }) => {
          this.figures.add(answer, task.records);
          this.merge(answer);
          release();
        },
      );
    }
    return true;
  }

  /** Waits for all tasks. Throws what they fail with. */
  async finish(): Promise<void> {
    await this.fanOut.drain();
    this.figures.finish();
  }

  /** To be called however the query ends. */
  stop(): void {
    this.fanOut.stop();
  }

  private merge(answer: TaskAnswer): void {
    invariant(answer.kind === 'metric', 'a task for samples is answered with samples');
    const { extractor, accumulator } = this.scan;
    const numbers = Uint32Array.from(answer.series, labels => extractor.series.numberOf(labels));
    accumulator.merge(RangeAccumulator.decode(answer.state), numbers);
  }
}

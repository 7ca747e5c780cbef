/**
 * A second implementation of LogQL. Every stored entry passes every stage separately, every instant is
 * evaluated separately, and nothing is optimized. It is written from docs/dev/logql-semantics.md, not from the
 * product. It shares only the query parser and the text conversions at its edges.
 *
 * Pitfall: it supports only what the generator writes. `Undecided` marks a query that cannot be compared.
 */
import type { Expr, LogExpr } from '../../../shared/language/logql/ast.ts';
import type { Bytes } from './bytes.ts';
import { matches } from './label-filters.ts';
import { MetricOracle } from './metrics.ts';
import { compilePipeline, type OracleEntry } from './pipeline.ts';
import type { SeriesLabels } from './series.ts';

export type { OracleEntry } from './pipeline.ts';

export interface OracleLine {
  readonly timeNs: bigint;
  readonly line: Bytes;
  readonly stream: SeriesLabels;
  readonly metadata: SeriesLabels;
  readonly parsed: SeriesLabels;
}

export interface OraclePoint {
  readonly timeMs: number;
  readonly labels: SeriesLabels;
  readonly value: number;
}

const NO_LABELS: SeriesLabels = new Map();

export class Oracle {
  readonly #entries: readonly OracleEntry[];

  /** @param entries each once, by time */
  constructor(entries: readonly OracleEntry[]) {
    this.#entries = entries;
  }

  /** All lines from `startNs`, below `endNs`. */
  lines({ selector, stages }: LogExpr, startNs: bigint, endNs: bigint): OracleLine[] {
    const pipeline = compilePipeline(stages);
    return this.#select(selector)
      .filter(({ timeNs }) => timeNs >= startNs && timeNs < endNs)
      .flatMap(entry => {
        const passed = pipeline(entry);
        if (passed === undefined) return [];
        const { stream, metadata, parsed } = passed.labels;
        return [{ timeNs: entry.timeNs, line: passed.line, stream, metadata: new Map(metadata), parsed }];
      });
  }

  /** All points at the instants, in the order of evaluation. */
  points(expr: Exclude<Expr, LogExpr>, instantsNs: readonly bigint[]): OraclePoint[] {
    const metric = new MetricOracle(expr, node => this.#select(node.range.log.selector));
    return instantsNs.flatMap(timeNs => {
      const timeMs = Number(timeNs / 1_000_000n);
      const operand = metric.at(timeNs);
      const vector = typeof operand === 'number' ? [{ labels: NO_LABELS, value: operand }] : operand;
      return vector.map(({ labels, value }) => ({ timeMs, labels, value }));
    });
  }

  #select(selector: LogExpr['selector']): readonly OracleEntry[] {
    return this.#entries.filter(({ stream }) =>
      selector.every(matcher => matches(matcher, stream.get(matcher.name) ?? '')),
    );
  }
}

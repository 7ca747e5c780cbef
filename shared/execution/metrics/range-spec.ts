/** Specification of one range aggregation: what to compute, and for which times. */
import type { RangeOp } from '../../language/logql/ast.ts';

export interface RangeSpec {
  readonly op: RangeOp;
  /** Quantile of quantile_over_time. */
  readonly parameter?: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Step, or 0 for an instant query. */
  readonly stepNs: bigint;
  readonly rangeNs: bigint;
  readonly offsetNs: bigint;
  readonly unwrapped: boolean;
}

export function sameQuery(a: RangeSpec, b: RangeSpec): boolean {
  return (
    a.op === b.op &&
    Object.is(a.parameter, b.parameter) &&
    a.startNs === b.startNs &&
    a.endNs === b.endNs &&
    a.stepNs === b.stepNs &&
    a.rangeNs === b.rangeNs &&
    a.offsetNs === b.offsetNs &&
    a.unwrapped === b.unwrapped
  );
}

/** How rules ask: one instant of a metric query, for one tenant. */
import type { SeriesLabels } from '../catalog/rule-state.ts';
import { parseQuery } from '../logql/parse.ts';
import { labelsToObject } from '../model/labels.ts';
import type { Limits } from '../model/limits.ts';
import type { QueryEngine } from '../query/engine.ts';

export interface ResultSample {
  readonly labels: SeriesLabels;
  readonly value: number;
}

/** A scalar is one sample without labels. Rejects with what people should read. */
export type RuleQuery = (
  tenant: string,
  expr: string,
  timeNs: bigint,
  signal: AbortSignal,
) => Promise<readonly ResultSample[]>;

const NO_VECTOR = 'rule result is not a vector or scalar';

export function engineQuery(
  engine: Pick<QueryEngine, 'instant'>,
  limitsOf: (tenant: string) => Limits,
): RuleQuery {
  return async (tenant, text, timeNs, signal) => {
    const expr = parseQuery(text);
    if (expr.kind === 'log') throw new Error(NO_VECTOR);
    const asker = { tenants: [tenant], limits: limitsOf(tenant), signal, partial: false, tags: '' };
    const { result } = await engine.instant({ text, expr, timeNs }, asker);
    if (result.kind === 'scalar') return [{ labels: {}, value: result.value }];
    if (result.kind !== 'vector') throw new Error(NO_VECTOR);
    return result.samples.map(({ labels, value }) => ({ labels: labelsToObject(labels), value }));
  };
}

/** Queries of rules: one instant of a metric query for one tenant. */

import { formatPrometheusDuration } from '../../base/model/duration.ts';
import { ClientError } from '../../base/model/errors.ts';
import { labelsToObject } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { QueryEngine } from '../../read/query/engine.ts';
import type { RuleLabels } from '../../storage/catalog/rule-state.ts';
import { withinTime } from './within-time.ts';

export interface ResultSample {
  readonly labels: RuleLabels;
  readonly value: number;
}

/** A scalar is one sample without labels. Rejects with a message for the operator. */
export type RuleQuery = (
  tenant: string,
  expr: string,
  timeNs: bigint,
  signal: AbortSignal,
) => Promise<readonly ResultSample[]>;

const NO_VECTOR = 'rule result is not a vector or scalar';

interface RuleQueryParts {
  readonly engine: Pick<QueryEngine, 'instant'>;
  readonly limitsOf: (tenant: string) => Limits;
  readonly clock: Clock;
}

/** Uses the limits and the timeout of a query from the tenant's clients. */
export function engineQuery({ engine, limitsOf, clock }: RuleQueryParts): RuleQuery {
  return async (tenant, text, timeNs, signal) => {
    const expr = parseQuery(text);
    if (expr.kind === 'log') throw new ClientError(400, NO_VECTOR);
    const limits = limitsOf(tenant);
    const { queryTimeoutNs } = limits;
    const requester = { tenants: [tenant], tenantsKey: tenant, limits, tags: '' };
    const run = (within: AbortSignal) =>
      engine.instant({ text, expr, timeNs }, { ...requester, signal: within });
    const reason = new ClientError(
      408,
      `the query timed out after ${formatPrometheusDuration(queryTimeoutNs)}`,
    );
    const ms = Number(queryTimeoutNs / NS_PER_MS);
    const { result } = await (ms > 0 ? withinTime({ clock, ms, signal, reason }, run) : run(signal));
    if (result.kind === 'scalar') return [{ labels: {}, value: result.value }];
    if (result.kind !== 'vector') throw new ClientError(400, NO_VECTOR);
    return result.samples.map(({ labels, value }) => ({ labels: labelsToObject(labels), value }));
  };
}

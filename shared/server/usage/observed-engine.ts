/**
 * A query engine that reports each successful query. Failed queries and metadata queries are not reported.
 */
import {
  type InstantQuery,
  type QueryAnswer,
  QueryEngine,
  type RangeQuery,
  type Requester,
} from '../../read/query/engine.ts';
import type { QueryStatistics } from '../../read/query/statistics.ts';
import { named } from '../../read/query/tenant-view.ts';
import type { QueryKind } from '../admin/metrics/query-metrics.ts';

export type OnAnswered = (
  tenants: readonly string[],
  statistics: QueryStatistics,
  execNs: number,
  kind: QueryKind,
) => void;

export class ObservedEngine extends QueryEngine {
  readonly #onAnswered: OnAnswered;

  constructor(parts: ConstructorParameters<typeof QueryEngine>[0], onAnswered: OnAnswered) {
    super(parts);
    this.#onAnswered = onAnswered;
  }

  override async range(query: RangeQuery, requester: Requester): Promise<QueryAnswer> {
    return this.#report(await super.range(query, requester), requester, 'range');
  }

  override async instant(query: InstantQuery, requester: Requester): Promise<QueryAnswer> {
    return this.#report(await super.instant(query, requester), requester, 'instant');
  }

  #report(answer: QueryAnswer, { tenants }: Requester, range: QueryKind['range']): QueryAnswer {
    const type = answer.result.kind === 'streams' ? 'limited' : 'metric';
    this.#onAnswered(named(tenants), answer.statistics, answer.execNs, { type, range });
    return answer;
  }
}

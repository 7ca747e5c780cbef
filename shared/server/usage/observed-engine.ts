/**
 * A query engine that reports each successful query. Failed queries and metadata queries are not reported.
 */
import {
  type Asker,
  type InstantQuery,
  type QueryAnswer,
  QueryEngine,
  type RangeQuery,
} from '../../read/query/engine.ts';
import type { QueryStatistics } from '../../read/query/statistics.ts';
import { named } from '../../read/query/tenant-view.ts';

/** Kind of query, in the terms of the reference's metrics. */
interface AskedQuery {
  readonly type: 'metric' | 'limited';
  readonly range: 'range' | 'instant';
}

export type OnAnswered = (
  tenants: readonly string[],
  statistics: QueryStatistics,
  execNs: number,
  asked: AskedQuery,
) => void;

export class ObservedEngine extends QueryEngine {
  readonly #onAnswered: OnAnswered;

  constructor(parts: ConstructorParameters<typeof QueryEngine>[0], onAnswered: OnAnswered) {
    super(parts);
    this.#onAnswered = onAnswered;
  }

  override async range(query: RangeQuery, asker: Asker): Promise<QueryAnswer> {
    return this.#tell(await super.range(query, asker), asker, 'range');
  }

  override async instant(query: InstantQuery, asker: Asker): Promise<QueryAnswer> {
    return this.#tell(await super.instant(query, asker), asker, 'instant');
  }

  #tell(answer: QueryAnswer, { tenants }: Asker, range: AskedQuery['range']): QueryAnswer {
    const type = answer.result.kind === 'streams' ? 'limited' : 'metric';
    this.#onAnswered(named(tenants), answer.statistics, answer.execNs, { type, range });
    return answer;
  }
}

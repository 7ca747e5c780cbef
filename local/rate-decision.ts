/**
 * Decides in the front thread whether this process accepts a push, and how much of it. Other threads request their
 * decisions here (threads/thread-rates.ts).
 */

import { ClientError } from '../shared/base/model/errors.ts';
import type { Limits } from '../shared/base/model/limits.ts';
import type { HttpContext } from '../shared/server/http/context.ts';
import type { MergeBacklog } from '../shared/upkeep/compaction/merge-backlog.ts';
import type { IngestRates } from '../shared/write/ingest/rates/ingest-rates.ts';
import type { RateDecision, RequestedRate } from '../shared/write/ingest/rates/rate-decision.ts';
import { tenantRateOf } from '../shared/write/ingest/rates/tenant-state.ts';
import type { Disk } from './disk.ts';

interface RateDecisionParts {
  readonly context: Pick<HttpContext, 'shutdown'>;
  readonly rates: Pick<IngestRates, 'decide'>;
  readonly limitsOf: (tenant: string) => Limits;
  readonly disk: Pick<Disk, 'message'> | undefined;
  readonly backlog: () => Pick<MergeBacklog, 'refuses'>;
}

export interface RateDecisions {
  /** Throws ClientError if the process shuts down or its disk accepts no entries. */
  decide(tenant: string, asked: RequestedRate): Promise<RateDecision>;
  /** Like `decide`, for a thread that has the rates itself. `undefined` if a push within its rates is accepted. */
  refusal(tenant: string): RateDecision | undefined;
}

export function rateDecisions({ context, rates, limitsOf, disk, backlog }: RateDecisionParts): RateDecisions {
  const refusal = (tenant: string): RateDecision | undefined => {
    context.shutdown.refusePushes();
    if (disk?.message !== undefined) throw new ClientError(503, disk.message);
    // Refuses without using the tenant's rate limit: the client repeats the push.
    if (!backlog().refuses(tenant)) return undefined;
    return { kind: 'nothing', limitBytes: tenantRateOf(limitsOf(tenant)).bytesPerSecond };
  };
  return {
    refusal,
    decide: async (tenant, asked) => refusal(tenant) ?? rates.decide(tenant, limitsOf(tenant), asked),
  };
}

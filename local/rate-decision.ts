/** Decides whether this process accepts a push, and how much of it. Other fronts request their decisions here. */

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

type DecideRates = (tenant: string, asked: RequestedRate) => Promise<RateDecision>;

/** The returned function throws ClientError if the process shuts down or its disk accepts no entries. */
export function rateDecision({ context, rates, limitsOf, disk, backlog }: RateDecisionParts): DecideRates {
  return (tenant, asked) => {
    context.shutdown.refusePushes();
    if (disk?.message !== undefined) throw new ClientError(503, disk.message);
    const limits = limitsOf(tenant);
    // Refuses without using the tenant's rate limit: the client repeats the push.
    if (backlog().refuses(tenant)) {
      return Promise.resolve({ kind: 'nothing', limitBytes: tenantRateOf(limits).bytesPerSecond });
    }
    return rates.decide(tenant, limits, asked);
  };
}

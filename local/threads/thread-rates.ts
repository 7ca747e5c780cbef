/**
 * Rate limits of pushes, as an ingest thread applies them. A process has one state of each tenant. If it has several
 * ingest threads, the state is in the front thread, and each push sends it a request. The only ingest thread of a
 * process has the state itself, which saves two messages for each push, and a wait for the front thread. It then asks
 * only while a push may be refused for another reason: the disk is full, or merging is behind.
 */
import type { RateLimits } from '../../shared/server/http/assemble-parts.ts';
import type { IngestRates } from '../../shared/write/ingest/rates/ingest-rates.ts';
import { admitBy, type RateDecision } from '../../shared/write/ingest/rates/rate-decision.ts';
import type { AskFront } from './role-messages.ts';

/** Limits whose state is in the front thread. */
export function ratesOfFront(ask: AskFront): RateLimits {
  return {
    admit: (tenant, _limits, result, pace) =>
      admitBy(
        tenant,
        result,
        async asked => (await ask({ kind: 'rates', tenant, asked })) as RateDecision,
        pace,
      ),
  };
}

interface OwnRatesParts {
  readonly rates: Pick<IngestRates, 'decide' | 'activeStreams' | 'createdStreams'>;
  readonly ask: AskFront;
  /** Whether the front thread may refuse a push that is within its limits. */
  readonly mayBeRefused: () => boolean;
}

/** Limits whose state is in the calling thread. */
export function ownRates({ rates, ask, mayBeRefused }: OwnRatesParts): RateLimits {
  return {
    admit: (tenant, limits, result, pace) =>
      admitBy(
        tenant,
        result,
        async asked => {
          const refused = mayBeRefused() ? await ask({ kind: 'refusal', tenant }) : undefined;
          return (refused as RateDecision | undefined) ?? rates.decide(tenant, limits, asked);
        },
        pace,
      ),
    activeStreams: () => rates.activeStreams(),
    createdStreams: () => rates.createdStreams(),
  };
}

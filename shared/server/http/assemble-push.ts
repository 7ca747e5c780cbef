/** Assembles the push path: group commit, rate limits, the limit of unmerged chunks, and the memory of pushes. */

import type { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import { DEFAULT_GROUP_COMMIT } from '../../write/ingest/group-commit.ts';
import { PushService } from '../../write/ingest/push.ts';
import { PushBudget } from '../../write/ingest/push-budget.ts';
import { IngestRates } from '../../write/ingest/rates/ingest-rates.ts';
import { UnmergedBound } from '../../write/ingest/unmerged-bound.ts';
import { addStreamMetrics, ChunkMetrics } from '../admin/metrics/chunk-metrics.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import { ObservedCommitter } from '../usage/observed-committer.ts';
import type { UsageServices } from '../usage/usage.ts';
import type { ContextParts, RateLimits } from './assemble-parts.ts';

interface PushSources
  extends Pick<
    ContextParts,
    | 'config'
    | 'store'
    | 'catalog'
    | 'clock'
    | 'ids'
    | 'ingestExchange'
    | 'rates'
    | 'log'
    | 'pushCounts'
    | 'onLargePushEnd'
    | 'fresh'
  > {
  readonly scheduler: FairScheduler;
  readonly usage: UsageServices;
  readonly registry: MetricsRegistry;
  /** Throws ClientError if the process accepts no pushes. */
  readonly refusePushes: () => void;
}

export function assemblePush(sources: PushSources): PushService {
  const { config, store, catalog, clock, ids, scheduler, usage, registry, refusePushes } = sources;
  const { inlineMaxBytes } = config.logboom;
  const minesPatterns = config.patternIngester.enabled;
  const wait = groupWaitOf(config, store.isDistant === true);
  const grouping = { ...DEFAULT_GROUP_COMMIT, ...wait, inlineMaxBytes, minesPatterns };
  const rates = ratesOf(sources);
  const unmerged = unmergedBoundOf(sources);
  const chunks = new ChunkMetrics(registry, {
    maxGroupBytes: grouping.maxGroupBytes,
    load: () => committer.load,
  });
  const committer: ObservedCommitter = new ObservedCommitter(
    {
      store,
      catalog,
      clock,
      ids,
      options: grouping,
      onWritten: chunks.written,
      scheduler,
      demandOf: tenant => rates?.demandOf?.(tenant),
      fresh: sources.fresh,
    },
    usage.onStored,
    chunks.failed,
  );
  addStreamMetrics(registry, {
    streams: () => rates?.activeStreams?.() ?? [],
    created: () => rates?.createdStreams?.() ?? [],
  });
  return new PushService({
    committer,
    clock,
    scheduler,
    budget: new PushBudget({ counts: sources.pushCounts }),
    onLargeEnd: sources.onLargePushEnd,
    observer: usage.observer,
    rates,
    admit: tenant => {
      refusePushes();
      unmerged?.admit(tenant);
    },
  });
}

/** Each object of S3 costs a PUT and a record, so a process that only accepts pushes gathers more of them. */
export function groupWaitOf(
  { auth, logboom }: PushSources['config'],
  isDistant: boolean,
): { readonly waitMs: number; readonly gathers: boolean } {
  const gathers = isDistant && (auth.target === 'write' || auth.target === 'distributor');
  return { waitMs: gathers ? logboom.writeTierWaitMs : logboom.groupCommitWaitMs, gathers };
}

function ratesOf({ rates, ingestExchange, clock, ids, log }: PushSources): RateLimits | undefined {
  if (rates !== undefined) return rates;
  return ingestExchange && new IngestRates({ exchange: ingestExchange, clock, ids, log });
}

/** `undefined` for a local store: only processes that share a remote store see unmerged chunks of each other. */
function unmergedBoundOf({ config, store, catalog, clock, log }: PushSources): UnmergedBound | undefined {
  if (store.isDistant !== true) return undefined;
  const maxChunks = config.logboom.maxUnmergedChunks;
  return new UnmergedBound({
    chunksOf: tenant => catalog.unmerged.of(tenant, maxChunks),
    maxChunks,
    clock,
    log,
  });
}

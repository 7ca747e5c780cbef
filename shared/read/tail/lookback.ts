/**
 * Reads the newest entries before a tail begins, over a snapshot of the catalog. Commits in the snapshot
 * belong to the lookback, later ones to the log. The snapshot is described by the IDs of its chunks and of
 * recent merge inputs. A commit that the log returns later is then not served twice.
 */

import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import type { Subscription } from '../../storage/catalog/subscriptions.ts';
import type { LoggedChunk } from '../../storage/catalog/tail-log.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import type { TimeRange } from '../query/day-plan.ts';
import { type QueryCatalog, QueryEngine } from '../query/engine.ts';
import type { Visibility } from '../query/visibility.ts';
import { APPLIED_MS, COVERED_MS, LOOKBACK_AHEAD_NS, MAX_COVERED, VISIBLE_MS } from './bounds.ts';
import { type ShownEntry, sortByTime, type TailEntry, tailEntry } from './tail-entry.ts';
import { entryFormOf } from './tail-query.ts';

export interface LookbackParts {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly clock: Clock;
  readonly visibility?: Visibility | undefined;
  limitsOf(tenant: string): Limits;
}

export interface LookbackSnapshot {
  readonly range: TimeRange;
  readonly days: readonly DaySnapshot[];
  /** IDs of chunks in it, by themselves or merged, that a log may still return. */
  readonly covered: readonly string[];
}

/** Tails that join together share a snapshot, from the earliest of their starts on. */
type SnapshotRequest = Pick<Subscription, 'tenant' | 'startNs'>;

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Returns a request that covers all others: the earliest start, and the maximum number of entries. At least
 * one is needed.
 */
export function widestOf(subscriptions: readonly Subscription[]): Subscription {
  const [first] = subscriptions;
  let { startNs, limit } = first;
  for (const one of subscriptions) {
    if (BigInt(one.startNs) < BigInt(startNs)) startNs = one.startNs;
    limit = Math.max(limit, one.limit);
  }
  return { ...first, startNs, limit };
}

/** Selects this tail's entries from the newest entries of a wider lookback, ascending. */
export function ownLookback(
  entries: readonly TailEntry[],
  { startNs, limit }: Pick<Subscription, 'startNs' | 'limit'>,
): readonly TailEntry[] {
  const start = BigInt(startNs);
  let from = Math.max(0, entries.length - limit);
  while (from < entries.length && entries[from].timeNs < start) from++;
  return entries.slice(from);
}

/** Returns the range that a tail's lookback reads. It is empty if the tail starts in the future. */
function lookbackRange({ startNs }: Pick<Subscription, 'startNs'>, nowNs: bigint): TimeRange {
  const start = BigInt(startNs);
  const end = nowNs + LOOKBACK_AHEAD_NS;
  return { startNs: start, endNs: start > end ? start : end };
}

/** @param known IDs of chunks to skip */
export async function takeSnapshot(
  { catalog, source, clock }: LookbackParts,
  asked: SnapshotRequest,
  known: ReadonlySet<string> = NOTHING,
): Promise<LookbackSnapshot> {
  const range = lookbackRange(asked, clock.nowNs());
  const sinceMs = clock.nowMs() - COVERED_MS;
  const isEmpty = range.startNs === range.endNs;
  const days = isEmpty ? [] : await catalog.daysForQuery(asked.tenant, range.startNs, range.endNs - 1n);
  const covered: string[] = [];
  for (const record of recordsOf(days)) {
    if (startedMsOf(record.id) < sinceMs || known.has(record.id)) continue;
    covered.push(record.id);
    // The log may still return its merge inputs.
    if (record.level === 0) continue;
    const { inputs } = await source.footer(record);
    for (const id of inputs) if (startedMsOf(id) >= sinceMs) covered.push(id);
  }
  return { range, days, covered: newest(covered) };
}

function recordsOf(days: readonly DaySnapshot[]): ChunkRecord[] {
  return days.flatMap(({ records }) => records);
}

/**
 * Returns the chunks that were served from the log although the snapshot does not contain them. Part of a
 * transaction may be visible before the remaining items. A chunk that has been merged twice looks the same. A
 * moment later the former is in the catalog, and the latter still is not.
 *
 * @param served chunks that the snapshot does not cover
 */
export async function missedBy(
  parts: LookbackParts,
  {
    asked,
    snapshot,
    served,
  }: {
    readonly asked: SnapshotRequest;
    readonly snapshot: LookbackSnapshot;
    readonly served: readonly LoggedChunk[];
  },
  signal: AbortSignal,
): Promise<ChunkRecord[]> {
  const nowMs = parts.clock.nowMs();
  const unknown = served.filter(({ stampMs }) => nowMs - stampMs < APPLIED_MS).map(({ record }) => record);
  if (unknown.length === 0) return unknown;
  await parts.clock.sleep(VISIBLE_MS, signal);
  const before = new Set(recordsOf(snapshot.days).map(({ id }) => id));
  const came = new Set((await takeSnapshot(parts, asked, before)).covered);
  return unknown.filter(({ id }) => came.has(id));
}

/** IDs start with their time, so the newest are the last. */
function newest(ids: string[]): string[] {
  return ids.length <= MAX_COVERED ? ids : ids.sort().slice(-MAX_COVERED);
}

/** Returns entries ascending by time. Throws ClientError, also if it exceeds the query timeout. */
export async function readLookback(
  { source, clock, visibility, limitsOf }: LookbackParts,
  subscription: Subscription,
  { range: { endNs }, days }: LookbackSnapshot,
  signal: AbortSignal,
): Promise<TailEntry[]> {
  if (subscription.limit === 0 || recordsOf(days).length === 0) return [];
  const { tenant, query, limit, form, flags } = subscription;
  // The snapshot may belong to a tail that requested more.
  const startNs = BigInt(subscription.startNs);
  if (startNs >= endNs) return [];
  const expr = parseQuery(query);
  if (expr.kind !== 'log') throw new BadRequestError('only log selector is supported');
  // The engine reads the snapshot whatever is committed or merged meanwhile: objects are not deleted during
  // their grace period.
  const frozen: QueryCatalog = { daysForQuery: async () => days };
  const engine = new QueryEngine({ catalog: frozen, source, clock, visibility });
  const entryForm = entryFormOf(form, flags);
  // The length was checked with the end that the client means: now.
  const limits = { ...limitsOf(tenant), maxQueryLengthNs: 0n };
  const timeout = new AbortController();
  const waited = new AbortController();
  void clock
    .sleep(Number(limits.queryTimeoutNs / NS_PER_MS), waited.signal)
    .then(() =>
      timeout.abort(
        new ClientError(
          504,
          'reading earlier entries took too long; choose a shorter time or a smaller limit',
        ),
      ),
    )
    .catch(() => undefined);
  try {
    const { result } = await engine.range(
      {
        startNs,
        endNs,
        text: query,
        expr,
        limit,
        backward: true,
        stepNs: NS_PER_SECOND,
        intervalNs: 0n,
        categorize: entryForm === 'categorized',
      },
      {
        tenants: [tenant],
        tenantsKey: tenant,
        limits,
        signal: AbortSignal.any([signal, timeout.signal]),
        tags: '',
      },
    );
    if (result.kind !== 'streams') throw new BadRequestError('only log selector is supported');
    const found = result.streams.flatMap(({ labels, entries }) =>
      entries.map((entry): TailEntry => {
        const shown: ShownEntry = { ...entry, labels };
        return tailEntry(shown, entryForm, '');
      }),
    );
    return sortByTime(found.reverse());
  } finally {
    waited.abort();
  }
}

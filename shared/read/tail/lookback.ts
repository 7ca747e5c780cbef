/**
 * The newest entries before a tail begins, over a snapshot of the catalog: what it holds is the lookback's, what is committed
 * later is the log's. The snapshot is known by the ids of its chunks and of what the newest of them were merged from, so that
 * a commit which comes in the log later, although the snapshot has it, is not served twice.
 */

import { NS_PER_MS } from '../../base/model/duration.ts';
import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
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
  readonly records: readonly ChunkRecord[];
  /** Ids of chunks that are in it, by themselves or merged, of those that a log may still bring. */
  readonly covered: readonly string[];
}

/** Tails that join together share a snapshot, from the earliest of their starts on. */
export type SnapshotRequest = Pick<Subscription, 'tenant' | 'startNs'>;

const NOTHING: ReadonlySet<string> = new Set();

/** The request that holds those of all: the earliest start, and the most entries. At least one. */
export function widestOf(subscriptions: readonly Subscription[]): Subscription {
  const [first] = subscriptions;
  let { startNs, limit } = first;
  for (const one of subscriptions) {
    if (BigInt(one.startNs) < BigInt(startNs)) startNs = one.startNs;
    limit = Math.max(limit, one.limit);
  }
  return { ...first, startNs, limit };
}

/** Of the newest entries of a wider lookback, ascending, those of this one. */
export function ownLookback(
  entries: readonly TailEntry[],
  { startNs, limit }: Pick<Subscription, 'startNs' | 'limit'>,
): readonly TailEntry[] {
  const start = BigInt(startNs);
  let from = Math.max(0, entries.length - limit);
  while (from < entries.length && entries[from].timeNs < start) from++;
  return entries.slice(from);
}

/** What the lookback of a tail reads; an empty range where it starts in the future. */
export function lookbackRange({ startNs }: Pick<Subscription, 'startNs'>, nowNs: bigint): TimeRange {
  const start = BigInt(startNs);
  const end = nowNs + LOOKBACK_AHEAD_NS;
  return { startNs: start, endNs: start > end ? start : end };
}

/** @param known ids of chunks that are left out */
export async function takeSnapshot(
  { catalog, source, clock }: LookbackParts,
  asked: SnapshotRequest,
  known: ReadonlySet<string> = NOTHING,
): Promise<LookbackSnapshot> {
  const range = lookbackRange(asked, clock.nowNs());
  const sinceMs = clock.nowMs() - COVERED_MS;
  const records =
    range.startNs === range.endNs ? [] : await catalog.chunks(asked.tenant, range.startNs, range.endNs - 1n);
  const covered: string[] = [];
  for (const record of records) {
    if (startedMsOf(record.id) < sinceMs || known.has(record.id)) continue;
    covered.push(record.id);
    // What it was merged from may still be on its way in the log.
    if (record.level === 0) continue;
    const { inputs } = await source.footer(record);
    for (const id of inputs) if (startedMsOf(id) >= sinceMs) covered.push(id);
  }
  return { range, records, covered: newest(covered) };
}

/**
 * Of what was served to others from the log: what was not in the catalog yet when the snapshot was taken, because a part of a
 * transaction may be seen before the rest. What was there and has been merged twice looks the same; but a moment later the one
 * is there, and the other still is not. `served` are those that the snapshot does not cover.
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
  const before = new Set(snapshot.records.map(({ id }) => id));
  const came = new Set((await takeSnapshot(parts, asked, before)).covered);
  return unknown.filter(({ id }) => came.has(id));
}

/** Names begin with their time, so the newest are the last. */
function newest(ids: string[]): string[] {
  return ids.length <= MAX_COVERED ? ids : ids.sort().slice(-MAX_COVERED);
}

/** Ascending by time. Throws ClientError; an abort where it takes too long. */
export async function readLookback(
  { catalog, source, clock, visibility, limitsOf }: LookbackParts,
  subscription: Subscription,
  { range: { endNs }, records }: LookbackSnapshot,
  signal: AbortSignal,
): Promise<TailEntry[]> {
  if (records.length === 0 || subscription.limit === 0) return [];
  const { tenant, query, limit, form, flags } = subscription;
  // The snapshot may be of one who asked for more.
  const startNs = BigInt(subscription.startNs);
  if (startNs >= endNs) return [];
  const expr = parseQuery(query);
  if (expr.kind !== 'log') throw new BadRequestError('only log selector is supported');
  // The engine reads what the snapshot has, whatever is committed or merged meanwhile: objects are kept for their grace.
  const frozen: QueryCatalog = {
    chunks: async () => records,
    daysForQuery: (of, fromNs, toNs) => catalog.daysForQuery(of, fromNs, toNs),
  };
  const engine = new QueryEngine({ catalog: frozen, source, clock, visibility });
  const entryForm = entryFormOf(form, flags);
  // The length was checked with the end that the client means: now.
  const limits = { ...limitsOf(tenant), maxQueryLengthNs: 0n };
  const timeout = new AbortController();
  const waited = new AbortController();
  void clock
    .sleep(Number(limits.queryTimeoutNs / NS_PER_MS), waited.signal)
    .then(() => timeout.abort(new ClientError(504, 'the lookback took too long')))
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
        stepNs: 1_000_000_000n,
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

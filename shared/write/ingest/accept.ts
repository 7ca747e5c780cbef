/**
 * From a decoded push to what is to be stored: discovery, validation and normalising, in the reference's order
 * (docs/dev/wire-format.md#order-of-checks). What is wrong with the request as a whole throws; what is wrong with some entries becomes
 * the error to answer after the others are stored.
 */
import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Steps } from '../../base/model/steps.ts';
import { detectLevels } from './detected-levels.ts';
import type { Discard } from './discards.ts';
import { discoverGenericFields } from './generic-fields.ts';
import { sanitizeMetadata } from './metadata.ts';
import type { AcceptedPush, PushColumns } from './push-columns.ts';
import { prepareStreams } from './push-streams.ts';
import { type StreamTotals, type Truncated, validateEntries } from './validate-entries.ts';

export interface PushContext {
  readonly tenant: string;
  readonly limits: Limits;
  readonly nowNs: bigint;
  /** Value of `X-Loki-Backfill-Shard`: marks the streams and lets old entries in. */
  readonly backfillShard?: string;
}

export interface PushResult {
  readonly accepted: AcceptedPush;
  /** To be answered once the accepted entries are stored. */
  readonly error?: ClientError;
  readonly discards: readonly Discard[];
  /** Policy of each stream; empty where none applies. */
  readonly policyOf: readonly string[];
  /** What is accepted of each stream. */
  readonly totals: StreamTotals;
  /** Bytes of the accepted lines, and of the metadata that came with them: what rate limits count. */
  readonly lineBytes: number;
  readonly metadataBytes: number;
  readonly truncated: Truncated;
}

/** Amends `columns` and tells what of them to store. Throws ClientError where the whole request is refused. */
export function* acceptPush(columns: PushColumns, context: PushContext): Steps<PushResult> {
  const { tenant, limits, nowNs, backfillShard } = context;
  yield* prepareStreams(columns, limits, backfillShard);
  if (columns.streams.length === 0) {
    throw new ClientError(422, 'error at least one valid stream is required for ingestion');
  }
  const { entries, errors, blocked, policyOf, discards, totals, truncated } = yield* validateEntries(
    columns,
    {
      tenant,
      limits,
      nowNs,
      acceptOld: backfillShard !== undefined,
    },
  );
  yield* sanitizeMetadata(columns);
  const { levelOf, levels } = yield* detectLevels(columns, entries, limits);
  yield* discoverGenericFields(columns, entries, limits);
  const message = errors.text();
  return {
    accepted: { columns, entries, levelOf, levels },
    // What a client can mend goes before what it can only wait for.
    error: message === undefined ? blocked : new BadRequestError(message),
    discards,
    policyOf,
    totals,
    lineBytes: sum(totals.lineBytes),
    metadataBytes: sum(totals.metadataBytes),
    truncated,
  };
}

function sum(bytes: Float64Array): number {
  let all = 0;
  for (const some of bytes) all += some;
  return all;
}

/**
 * Decides which entries of a decoded push are stored: discovery, validation and normalization, in the
 * reference's order (docs/dev/wire-format.md#order-of-checks). An error of the whole request throws. An error
 * of single entries is returned after the others are stored.
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
  /** Value of `X-Loki-Backfill-Shard`. It marks the streams and permits old entries. */
  readonly backfillShard?: string;
}

export interface PushResult {
  readonly accepted: AcceptedPush;
  /** Error to return after the accepted entries are stored. */
  readonly error?: ClientError;
  readonly discards: readonly Discard[];
  /** Policy of each stream. Empty if none applies. */
  readonly policyOf: readonly string[];
  /** Accepted totals per stream. */
  readonly totals: StreamTotals;
  /** Bytes of the accepted lines and of the metadata sent with them, which rate limits count. */
  readonly lineBytes: number;
  readonly metadataBytes: number;
  readonly truncated: Truncated;
}

/**
 * Amends `columns` and returns which entries to store. Throws ClientError if the whole request is refused.
 */
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
  const lineBytes = sum(totals.lineBytes);
  return {
    accepted: { columns, entries, lineBytes, levelOf, levels },
    // An error that a client can fix has precedence over one that it must wait out.
    error: message === undefined ? blocked : new BadRequestError(message),
    discards,
    policyOf,
    totals,
    lineBytes,
    metadataBytes: sum(totals.metadataBytes),
    truncated,
  };
}

function sum(bytes: Float64Array): number {
  let all = 0;
  for (const some of bytes) all += some;
  return all;
}

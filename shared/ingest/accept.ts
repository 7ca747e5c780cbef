/**
 * From a decoded push to what is to be stored: discovery, validation and normalising, in the reference's order
 * (wire-format 1.5). What is wrong with the request as a whole throws; what is wrong with some entries becomes
 * the error to answer after the others are stored.
 */
import { BadRequestError, ClientError } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import { detectLevels } from './detected-levels.ts';
import { sanitizeMetadata } from './metadata.ts';
import type { AcceptedPush, PushColumns } from './push-columns.ts';
import { prepareStreams } from './push-streams.ts';
import { type Discard, validateEntries } from './validate-entries.ts';

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
  /** Bytes of the accepted lines, and of the metadata that came with them: what rate limits count. */
  readonly lineBytes: number;
  readonly metadataBytes: number;
}

/** Amends `columns` and tells what of them to store. Throws ClientError where the whole request is refused. */
export function acceptPush(columns: PushColumns, context: PushContext): PushResult {
  const { limits, nowNs, backfillShard } = context;
  prepareStreams(columns, limits, backfillShard);
  if (columns.streams.length === 0) {
    throw new ClientError(422, 'error at least one valid stream is required for ingestion');
  }
  const { entries, errors, discards, lineBytes, metadataBytes } = validateEntries(
    columns,
    limits,
    nowNs,
    backfillShard !== undefined,
  );
  sanitizeMetadata(columns);
  const { levelOf, levels } = detectLevels(columns, entries, limits);
  const message = errors.text();
  return {
    accepted: { columns, entries, levelOf, levels },
    error: message === undefined ? undefined : new BadRequestError(message),
    discards,
    lineBytes,
    metadataBytes,
  };
}

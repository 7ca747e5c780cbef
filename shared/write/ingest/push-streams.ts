/**
 * Prepares the streams of a push (docs/dev/wire-format.md#order-of-checks, steps 3 to 6). It refuses reserved
 * labels, adds backfill labels and `service_name`, and merges streams that became equal. It validates labels
 * and finds blocked streams.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { BadRequestError, type ClientError } from '../../base/model/errors.ts';
import { labelValue } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Steps } from '../../base/model/steps.ts';
import { type BlockReason, blockError, blockOf, type IngestionBlock } from './blocked-ingestion.ts';
import type { ErrorGroups } from './error-groups.ts';
import { NO_POLICY } from './policies.ts';
import type { PushColumns, PushStream } from './push-columns.ts';
import { withServiceName } from './service-name.ts';
import { streamOf } from './stream-table.ts';
import { decideStream, type StreamReason } from './validate-stream.ts';

const BACKFILL = '__backfill__';
const BACKFILL_SHARD = '__backfill_shard__';

/** Streams per step: 0.2 ms. */
const STREAMS_A_STEP = 128;
const ENTRIES_A_STEP = 16_384;
/**
 * Maximum streams of a push whose names and decisions are cached for the next. A larger push would only
 * create garbage.
 */
const MAX_CACHED_STREAMS = 4096;

/** Amends `columns.streams`, and `columns.streamOf` if streams became equal. Throws BadRequestError. */
export function* prepareStreams(
  columns: PushColumns,
  limits: Limits,
  backfillShard: string | undefined,
): Steps<void> {
  const { streams } = columns;
  const indexOf = new Map<string, number>();
  const indexes = new Uint32Array(streams.length);
  let kept = 0;
  for (let i = 0; i < indexes.length; i++) {
    let stream = streams[i];
    refuseReserved(stream);
    if (backfillShard !== undefined) stream = withBackfill(stream, backfillShard);
    stream = withServiceName(stream, limits.discoverServiceName, i >= MAX_CACHED_STREAMS);
    let index = indexOf.get(stream.text);
    if (index === undefined) {
      index = kept++;
      indexOf.set(stream.text, index);
      streams[index] = stream;
    }
    indexes[i] = index;
    if (i % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
  }
  if (kept === indexes.length) return;
  streams.length = kept;
  for (let entry = 0; entry < columns.count; entry++) {
    columns.streamOf[entry] = indexes[columns.streamOf[entry]];
    if (entry % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
}

export interface StreamChecks {
  /** Policy of each stream. Empty if none applies, or if the stream has no entries. */
  readonly policyOf: readonly string[];
  /** Reason why no entry of a stream is stored, by stream. */
  readonly refusedAs: ReadonlyMap<number, StreamReason | BlockReason>;
  /** Error of the last blocked stream, used if there is no other error. */
  readonly blocked: ClientError | undefined;
}

/** Checks each stream that has entries: its labels, then whether it is blocked. Adds messages to `errors`. */
export function* checkStreams(
  { streams, streamOf, count }: PushColumns,
  { tenant, limits, nowNs }: { readonly tenant: string; readonly limits: Limits; readonly nowNs: bigint },
  errors: ErrorGroups,
): Steps<StreamChecks> {
  const policyOf = new Array<string>(streams.length).fill(NO_POLICY);
  const refusedAs = new Map<number, StreamReason | BlockReason>();
  const found = new Uint32Array(streams.length);
  let foundStreams = 0;
  const seen = new Uint8Array(streams.length);
  for (let entry = 0; entry < count; entry++) {
    const id = streamOf[entry];
    if (seen[id] === 0) {
      seen[id] = 1;
      found[foundStreams++] = id;
    }
    if (entry % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
  let lastBlock: IngestionBlock | undefined;
  for (let i = 0; i < foundStreams; i++) {
    const id = found[i];
    const { policy, rejection } = decideStream(streams[id], limits, i < MAX_CACHED_STREAMS);
    policyOf[id] = policy;
    if (rejection !== undefined) {
      refusedAs.set(id, rejection.reason);
      errors.add(`${id}`, () => rejection.message(tenant));
    } else {
      const block = blockOf(policy, limits, nowNs);
      if (block !== undefined) {
        refusedAs.set(id, block.reason);
        lastBlock = block;
      }
    }
    if (i % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
  }
  const blocked = lastBlock === undefined ? undefined : blockError(lastBlock, limits, tenant);
  return { policyOf, refusedAs, blocked };
}

function refuseReserved(stream: PushStream): void {
  for (const name of [BACKFILL, BACKFILL_SHARD]) {
    if (labelValue(stream.labels, name) !== undefined) {
      throw new BadRequestError(`stream '${stream.text}' has the reserved label '${name}'`);
    }
  }
}

function withBackfill(stream: PushStream, shard: string): PushStream {
  const labels = [
    ...stream.labels,
    { name: BACKFILL, value: 'true' },
    { name: BACKFILL_SHARD, value: shard },
  ];
  return streamOf(labels.sort((a, b) => compareUtf8(a.name, b.name)));
}

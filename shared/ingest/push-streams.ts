/**
 * The streams of a push on their way in (wire-format 1.5, steps 3 to 6): reserved labels refused, backfill labels
 * and `service_name` added, streams that became equal merged, labels validated.
 */
import { compareUtf8 } from '../model/bytes.ts';
import { BadRequestError } from '../model/errors.ts';
import { labelValue } from '../model/labels.ts';
import type { Limits } from '../model/limits.ts';
import type { PushColumns, PushStream } from './push-columns.ts';
import { withServiceName } from './service-name.ts';
import { streamOf } from './stream-table.ts';
import { type StreamRejection, validateStream } from './validate-stream.ts';

const BACKFILL = '__backfill__';
const BACKFILL_SHARD = '__backfill_shard__';

/** Amends `columns.streams`, and `columns.streamOf` where streams became equal. Throws BadRequestError. */
export function prepareStreams(
  columns: PushColumns,
  limits: Limits,
  backfillShard: string | undefined,
): void {
  const { streams } = columns;
  const placeOf = new Map<string, number>();
  const places = new Uint32Array(streams.length);
  let kept = 0;
  for (let i = 0; i < places.length; i++) {
    let stream = streams[i];
    refuseReserved(stream);
    if (backfillShard !== undefined) stream = withBackfill(stream, backfillShard);
    stream = withServiceName(stream, limits.discoverServiceName);
    let place = placeOf.get(stream.text);
    if (place === undefined) {
      place = kept++;
      placeOf.set(stream.text, place);
      streams[place] = stream;
    }
    places[i] = place;
  }
  if (kept === places.length) return;
  streams.length = kept;
  for (let entry = 0; entry < columns.count; entry++) {
    columns.streamOf[entry] = places[columns.streamOf[entry]];
  }
}

/** For each stream that has entries and fails, why. */
export function rejectedStreams(columns: PushColumns, limits: Limits): Map<number, StreamRejection> {
  const rejected = new Map<number, StreamRejection>();
  const seen = new Uint8Array(columns.streams.length);
  for (let entry = 0; entry < columns.count; entry++) {
    const id = columns.streamOf[entry];
    if (seen[id] === 1) continue;
    seen[id] = 1;
    const rejection = validateStream(columns.streams[id], limits);
    if (rejection !== undefined) rejected.set(id, rejection);
  }
  return rejected;
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

/**
 * Encodes `WriteRequest`, the message of Prometheus remote write 1.0: the labels and one sample of each
 * series. The protobuf is written by hand because it is only four small messages.
 *
 *     WriteRequest { 1: TimeSeries { 1: Label { 1: name, 2: value }..., 2: Sample { 1: double, 2: int64 ms } }... }
 */

import { compareUtf8 } from '../../../base/model/bytes.ts';
import type { RuleSample, SeriesLabels } from '../../../storage/catalog/rule-state.ts';

/** A special NaN that marks the end of a series. */
const STALE_NAN = 0x7ff0000000000002n;
/** The usual NaN, written explicitly because JavaScript does not define its bits. */
const NORMAL_NAN = 0x7ff8000000000001n;

const LENGTH_1 = (1 << 3) | 2;
const LENGTH_2 = (2 << 3) | 2;
const DOUBLE_1 = (1 << 3) | 1;
const VARINT_2 = 2 << 3;

/** @param timeMs Unix time, not before 1970 */
export function encodeWriteRequest(samples: readonly RuleSample[], timeMs: number): Buffer {
  const sampleTime = varint(timeMs);
  return Buffer.concat(
    samples.map(({ labels, value }) => {
      const sample = Buffer.concat([
        Buffer.from([DOUBLE_1]),
        doubleOf(value),
        Buffer.from([VARINT_2]),
        sampleTime,
      ]);
      return field(LENGTH_1, Buffer.concat([encodeLabels(labels), field(LENGTH_2, sample)]));
    }),
  );
}

/** Sorts labels, because endpoints refuse unsorted ones. */
function encodeLabels(labels: SeriesLabels): Buffer {
  const sorted = Object.entries(labels).sort(([a], [b]) => compareUtf8(a, b));
  return Buffer.concat(
    sorted.map(([name, value]) =>
      field(
        LENGTH_1,
        Buffer.concat([field(LENGTH_1, Buffer.from(name)), field(LENGTH_2, Buffer.from(value))]),
      ),
    ),
  );
}

function doubleOf(value: RuleSample['value']): Buffer {
  const bytes = Buffer.alloc(8);
  if (value === 'stale') bytes.writeBigUInt64LE(STALE_NAN);
  else if (Number.isNaN(value)) bytes.writeBigUInt64LE(NORMAL_NAN);
  else bytes.writeDoubleLE(value);
  return bytes;
}

function field(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), varint(body.length), body]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left % 0x80) | 0x80);
    left = Math.floor(left / 0x80);
  }
  bytes.push(left);
  return Buffer.from(bytes);
}

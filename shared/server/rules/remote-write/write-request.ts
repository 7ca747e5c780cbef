/**
 * Encodes `WriteRequest`, the message of Prometheus remote write 1.0: the labels and one sample of each
 * series. The protobuf is written by hand because it is only four small messages.
 *
 *     WriteRequest { 1: TimeSeries { 1: Label { 1: name, 2: value }..., 2: Sample { 1: double, 2: int64 ms } }... }
 */

import { compareUtf8 } from '../../../base/model/bytes.ts';
import type { RuleLabels, RuleSample } from '../../../storage/catalog/rule-state.ts';
import { ByteWriter } from '../../../storage/codec/byte-io.ts';

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
  const request = new ByteWriter();
  for (const { labels, value } of samples) {
    const series = new ByteWriter();
    writeLabels(series, labels);
    const sample = new ByteWriter(32);
    sample.byte(DOUBLE_1);
    sample.bytes(doubleOf(value));
    sample.byte(VARINT_2);
    sample.varint(timeMs);
    writeField(series, LENGTH_2, sample.finish());
    writeField(request, LENGTH_1, series.finish());
  }
  return request.finish();
}

/** Sorts labels, because endpoints refuse unsorted ones. */
function writeLabels(series: ByteWriter, labels: RuleLabels): void {
  const sorted = Object.entries(labels).sort(([a], [b]) => compareUtf8(a, b));
  for (const [name, value] of sorted) {
    const label = new ByteWriter();
    writeField(label, LENGTH_1, Buffer.from(name));
    writeField(label, LENGTH_2, Buffer.from(value));
    writeField(series, LENGTH_1, label.finish());
  }
}

function doubleOf(value: RuleSample['value']): Buffer {
  const bytes = Buffer.alloc(8);
  if (value === 'stale') bytes.writeBigUInt64LE(STALE_NAN);
  else if (Number.isNaN(value)) bytes.writeBigUInt64LE(NORMAL_NAN);
  else bytes.writeDoubleLE(value);
  return bytes;
}

function writeField(message: ByteWriter, tag: number, value: Buffer): void {
  message.byte(tag);
  message.block(value);
}

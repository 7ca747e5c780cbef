/**
 * Encodes and decodes the streams of an index, each once, ascending by text, in the form that a footer uses.
 */

import { compareUtf8 } from '../../base/model/bytes.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import { formatLabels, type Label } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';

export function encodeStreams(streams: readonly Stream[]): Buffer {
  const out = new ByteWriter(4096);
  out.varint(streams.length);
  for (const { labels } of streams) {
    out.varint(labels.length);
    for (const { name, value } of labels) {
      out.text(name);
      out.text(value);
    }
  }
  return out.finish();
}

/** Throws CorruptionError. */
export function decodeStreams(bytes: Buffer, what: string): Stream[] {
  const reader = new ByteReader(bytes);
  const streams: Stream[] = [];
  for (let left = reader.count(1); left > 0; left--) {
    const labels: Label[] = [];
    for (let more = reader.count(2); more > 0; more--) {
      labels.push({ name: reader.text(), value: reader.text() });
    }
    const text = formatLabels(labels);
    if (streams.length > 0 && compareUtf8(streams[streams.length - 1].text, text) >= 0) {
      throw new CorruptionError(`${what}: stream ${streams.length} is out of order`);
    }
    streams.push({ labels, text });
  }
  if (reader.remaining > 0) throw new CorruptionError(`${what}: ${reader.remaining} bytes after the streams`);
  return streams;
}

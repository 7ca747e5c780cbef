/**
 * Encodes and decodes the counts of one chunk. The form is that of a footer's counts
 * (docs/dev/format.md#34-counts), with the streams of the chunk's presence instead of the footer's.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { LAST_MINUTE, type LevelCounts } from '../chunk/format.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import type { ChunkCounts } from './format.ts';

export function encodeCounts({ levels, counts }: ChunkCounts): Buffer {
  const out = new ByteWriter(1024);
  out.varint(levels.length);
  for (const level of levels) out.text(level);
  for (const ofStream of counts) {
    out.varint(ofStream.length);
    for (const one of ofStream) writeLevel(out, one);
  }
  return out.finish();
}

function writeLevel(
  out: ByteWriter,
  { level, minutes, entries, lineBytes, metadataBytes }: LevelCounts,
): void {
  out.varint(level);
  out.varint(minutes.length);
  let before = 0;
  for (let i = 0; i < minutes.length; i++) {
    out.varint(minutes[i] - before);
    before = minutes[i];
    out.varint(entries[i]);
    out.varint(lineBytes[i]);
    out.varint(metadataBytes[i]);
  }
}

/**
 * @param entriesOf Entries of each stream of the chunk, in order; the counts must add up to them
 * @throws CorruptionError
 */
export function decodeCounts(bytes: Buffer, entriesOf: Float64Array, what: string): ChunkCounts {
  const reader = new ByteReader(bytes);
  const levels: string[] = [];
  for (let left = reader.count(1); left > 0; left--) levels.push(reader.text());
  const counts: LevelCounts[][] = [];
  for (let s = 0; s < entriesOf.length; s++) {
    const ofStream: LevelCounts[] = [];
    let total = 0;
    for (let left = reader.count(2); left > 0; left--) {
      const one = readLevel(reader, levels.length, what);
      for (let i = 0; i < one.entries.length; i++) total += one.entries[i];
      ofStream.push(one);
    }
    if (total !== entriesOf[s]) {
      throw new CorruptionError(`${what}: counts ${total} entries of stream ${s}, which has ${entriesOf[s]}`);
    }
    counts.push(ofStream);
  }
  if (reader.remaining > 0) throw new CorruptionError(`${what}: ${reader.remaining} bytes after the counts`);
  return { levels, counts };
}

function readLevel(reader: ByteReader, levels: number, what: string): LevelCounts {
  const level = reader.varint();
  if (level >= levels) throw new CorruptionError(`${what}: counts name level ${level} of ${levels}`);
  const buckets = reader.count(4);
  const minutes: number[] = [];
  const entries: number[] = [];
  const lineBytes: number[] = [];
  const metadataBytes: number[] = [];
  let minute = 0;
  for (let b = 0; b < buckets; b++) {
    const step = reader.varint();
    if (b > 0 && step === 0) throw new CorruptionError(`${what}: counts minute ${minute} twice`);
    minute += step;
    if (minute > LAST_MINUTE) throw new CorruptionError(`${what}: counts minute ${minute} of a day`);
    minutes.push(minute);
    entries.push(reader.varint());
    lineBytes.push(reader.varint());
    metadataBytes.push(reader.varint());
  }
  return { level, minutes, entries, lineBytes, metadataBytes };
}

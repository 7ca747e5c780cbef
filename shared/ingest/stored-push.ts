/** What became durable of a push, as metrics and usage count it. Plain data: the push may lie in another thread. */
import { hashOfText } from '../model/text-hash.ts';
import type { AcceptedPush } from './push-columns.ts';

/** Lengths of lines are counted in buckets that grow eightfold: bucket b is of lengths up to 8^b. */
export const LENGTH_BUCKETS = 8;

export interface StoredPush {
  /** Hashes of the streams that got entries (model/text-hash.ts). */
  readonly streams: Float64Array;
  /** Of lines. */
  readonly lineBytes: number;
  /** Of lines and of values of metadata. */
  readonly bytes: number;
  /** Lines by bucket of their length; the last one is what is longer than all bounds. */
  readonly lengths: Float64Array;
}

export function storedOf({ columns, entries }: AcceptedPush): StoredPush {
  const { streamOf, lineStart, lineEnd, firstPair, pairStart, pairEnd } = columns;
  const isUsed = new Uint8Array(columns.streams.length);
  const lengths = new Float64Array(LENGTH_BUCKETS + 1);
  let lineBytes = 0;
  let valueBytes = 0;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    isUsed[streamOf[entry]] = 1;
    const length = lineEnd[entry] - lineStart[entry];
    lineBytes += length;
    lengths[bucketOf(length)]++;
    for (let p = firstPair[entry]; p < firstPair[entry + 1]; p++) valueBytes += pairEnd[p] - pairStart[p];
  }
  const streams = columns.streams.filter((_, place) => isUsed[place] === 1);
  return {
    streams: Float64Array.from(streams, ({ text }) => hashOfText(text)),
    lineBytes,
    bytes: lineBytes + valueBytes,
    lengths,
  };
}

/** The smallest b with length <= 8^b: a third of the bits of length - 1, rounded up. */
function bucketOf(length: number): number {
  const bucket = length <= 1 ? 0 : Math.ceil((32 - Math.clz32(length - 1)) / 3);
  return Math.min(bucket, LENGTH_BUCKETS);
}

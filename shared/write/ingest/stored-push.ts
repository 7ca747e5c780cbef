/** Figures of a stored push for metrics and usage. Plain data, because the push may be on another thread. */
import type { Steps } from '../../base/model/steps.ts';
import { hashOfText } from '../../base/model/text-hash.ts';
import type { AcceptedPush } from './push-columns.ts';

/** Number of line length buckets, which grow eightfold: bucket b counts lengths up to 8^b. */
export const LENGTH_BUCKETS = 8;

export interface StoredPush {
  /** Hashes of the streams with entries (model/text-hash.ts). */
  readonly streams: Float64Array;
  /** Bytes of lines. */
  readonly lineBytes: number;
  /** Bytes of lines and metadata values. */
  readonly bytes: number;
  /** Lines by length bucket. The last one counts lines beyond all bounds. */
  readonly lengths: Float64Array;
}

/** Entries per step: 0.2 ms. An entry is never split. */
const ENTRIES_A_STEP = 8192;
const PAIRS_A_STEP = 32_768;
const STREAMS_A_STEP = 256;

export function* storedOf({ columns, entries }: AcceptedPush): Steps<StoredPush> {
  const { streamOf, lineStart, lineEnd, firstPair, pairStart, pairEnd } = columns;
  const isUsed = new Uint8Array(columns.streams.length);
  const lengths = new Float64Array(LENGTH_BUCKETS + 1);
  let lineBytes = 0;
  let valueBytes = 0;
  let pairs = 0;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    if (pairs >= PAIRS_A_STEP || i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) {
      pairs = 0;
      yield;
    }
    pairs += firstPair[entry + 1] - firstPair[entry];
    isUsed[streamOf[entry]] = 1;
    const length = lineEnd[entry] - lineStart[entry];
    lineBytes += length;
    lengths[bucketOf(length)]++;
    for (let p = firstPair[entry]; p < firstPair[entry + 1]; p++) valueBytes += pairEnd[p] - pairStart[p];
  }
  const hashes = new Float64Array(columns.streams.length);
  let used = 0;
  for (let index = 0; index < hashes.length; index++) {
    if (isUsed[index] === 1) hashes[used++] = hashOfText(columns.streams[index].text);
    if (index % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
  }
  return {
    streams: hashes.slice(0, used),
    lineBytes,
    bytes: lineBytes + valueBytes,
    lengths,
  };
}

/** Returns the smallest b with length <= 8^b: a third of the bits of length - 1, rounded up. */
function bucketOf(length: number): number {
  const bucket = length <= 1 ? 0 : Math.ceil((32 - Math.clz32(length - 1)) / 3);
  return Math.min(bucket, LENGTH_BUCKETS);
}

/** Which streams a push stored something of, and how many bytes: the loop over its entries. */
import type { AcceptedPush } from '../ingest/push-columns.ts';
import type { HyperLogLog } from '../model/hyperloglog.ts';
import { hashOfText } from '../model/text-hash.ts';

/** Adds the streams to the count; bytes of lines and of values of metadata. */
export function addStreams({ columns, entries }: AcceptedPush, streams: HyperLogLog): number {
  const { streamOf, lineStart, lineEnd, firstPair, pairStart, pairEnd } = columns;
  const used = new Uint8Array(columns.streams.length);
  let bytes = 0;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    used[streamOf[entry]] = 1;
    bytes += lineEnd[entry] - lineStart[entry];
    for (let p = firstPair[entry]; p < firstPair[entry + 1]; p++) bytes += pairEnd[p] - pairStart[p];
  }
  for (let s = 0; s < used.length; s++) if (used[s] === 1) streams.add(hashOfText(columns.streams[s].text));
  return bytes;
}

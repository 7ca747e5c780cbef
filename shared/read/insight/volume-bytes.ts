/**
 * What entries weigh in a volume: their lines and structured metadata, without the name of the level that the store adds
 * to each entry itself. No client sent it, and 14 bytes with every entry would be most of the volume of short lines.
 *
 * What a reader would get wrong: sums do not tell which metadata there is. Every entry is taken to have a level where its
 * metadata is long enough for one, which is so unless `discover_log_levels` is off.
 */
import { LEVEL_NAME } from '../../storage/chunk/format.ts';

const NAME_BYTES = LEVEL_NAME.length;
/** With the shortest level, `info` or `warn`. */
const LEAST_LEVEL_BYTES = NAME_BYTES + 4;

/** Bytes of a number of entries together. */
export function volumeBytes(entries: number, lineBytes: number, metadataBytes: number): number {
  const levelled = Math.min(entries, Math.floor(metadataBytes / LEAST_LEVEL_BYTES));
  return lineBytes + metadataBytes - levelled * NAME_BYTES;
}

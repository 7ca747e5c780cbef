/**
 * Computes the bytes of entries in a volume: lines and structured metadata, without the name of the level
 * that the store adds to each entry. No client sent it, and 14 bytes per entry would dominate the volume of
 * short lines.
 *
 * Pitfall: sums do not show which metadata exists. Every entry counts as having a level if its metadata is
 * long enough. That is correct unless `discover_log_levels` is off.
 */
import { LEVEL_NAME } from '../../storage/chunk/format.ts';

const NAME_BYTES = LEVEL_NAME.length;
/** Minimum bytes of a level pair, with the shortest level, `info` or `warn`. */
const MIN_LEVEL_BYTES = NAME_BYTES + 4;

/** Returns the bytes of a number of entries. */
export function volumeBytes(entries: number, lineBytes: number, metadataBytes: number): number {
  const leveled = Math.min(entries, Math.floor(metadataBytes / MIN_LEVEL_BYTES));
  return lineBytes + metadataBytes - leveled * NAME_BYTES;
}

/**
 * Recently shown rows of a live tail. A new connection begins slightly before the newest entry, so that a
 * disconnect loses nothing. Rows that were already shown are removed here.
 */
import type { LogRow } from '../lines/rows.ts';

export interface ShownRows {
  /** Rows that were not shown before, in order. Marks them as shown. */
  fresh(rows: readonly LogRow[]): readonly LogRow[];
  /** Unix nanoseconds; undefined if nothing was shown. */
  readonly newestNs: bigint | undefined;
}

/**
 * Maximum number of remembered rows, about 200 bytes each. If the overlap has more, the oldest may be shown
 * again.
 */
const REMEMBERED = 20_000;

export function createShown(remembered: number = REMEMBERED): ShownRows {
  const keys = new Set<string>();
  let newestNs: bigint | undefined;
  return {
    fresh(rows) {
      return rows.filter(({ ns, stream, metadata, parsed, line }) => {
        const labels = Object.entries({ ...stream, ...metadata, ...parsed });
        const key = JSON.stringify([ns, labels.sort(), line]);
        if (keys.has(key)) return false;
        keys.add(key);
        if (keys.size > remembered) {
          const [oldest] = keys;
          keys.delete(oldest);
        }
        const at = BigInt(ns);
        if (newestNs === undefined || at > newestNs) newestNs = at;
        return true;
      });
    },
    get newestNs() {
      return newestNs;
    },
  };
}

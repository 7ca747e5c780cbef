/**
 * What a live tail has shown of the last while. A connection that is opened again begins somewhat before the newest entry, so
 * that a break loses nothing, and what was shown is left out here.
 */
import type { LogRow } from '../lines/rows.ts';

export interface Shown {
  /** Those that were not shown before, in their order; from now on they were. */
  fresh(rows: readonly LogRow[]): readonly LogRow[];
  /** Unix nanoseconds; undefined where nothing was shown. */
  readonly newestNs: bigint | undefined;
}

/** About 200 bytes each. With more in the overlap the oldest may be shown again. */
const REMEMBERED = 20_000;

export function createShown(remembered: number = REMEMBERED): Shown {
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

/**
 * What each query thread may cache of what the process may. The spare thread serves light tenants, which read little, and on most
 * machines it never starts: it gets an eighth at most. All others share the rest equally.
 */
const MAX_OF_SPARE = 1 / 8;

/**
 * Bytes for the thread at `index`.
 *
 * @param bytes of the process @param threads without the spare one, whose index this is
 */
export function cacheShare(bytes: number, threads: number, index: number): number {
  const ofSpare = Math.min(MAX_OF_SPARE, 1 / (threads + 1));
  return Math.floor(bytes * (index === threads ? ofSpare : (1 - ofSpare) / threads));
}

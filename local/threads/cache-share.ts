/**
 * Divides the cache budget of the process among query threads. The spare thread serves light tenants, which
 * read little, and on most machines it never starts. So it gets at most one eighth. The others share the rest
 * equally.
 */
const MAX_OF_SPARE = 1 / 8;

/**
 * Cache size of the thread at `index`, bytes.
 *
 * @param bytes budget of the process
 * @param threads number of threads without the spare one, which has this number as its index
 */
export function cacheShare(bytes: number, threads: number, index: number): number {
  const ofSpare = Math.min(MAX_OF_SPARE, 1 / (threads + 1));
  return Math.floor(bytes * (index === threads ? ofSpare : (1 - ofSpare) / threads));
}

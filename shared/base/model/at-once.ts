/**
 * Runs asynchronous work with bounded concurrency. Requests to a remote store have latency, and use memory
 * while they are in flight.
 */

/**
 * Returns the results in the order of the list, with up to `width` concurrent calls. Throws the error of the
 * first call that fails, and starts no further calls.
 */
export async function mapAtOnce<T, R>(
  list: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    while (next < list.length && !hasFailed) {
      const index = next++;
      try {
        results[index] = await work(list[index], index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, list.length) }, worker));
  return results;
}

export interface AheadOptions {
  /** Number of calls in flight at first, including the one that is awaited; 1 is sequential. */
  readonly width: number;
  /** Maximum width: each result that is consumed doubles the width up to this limit. Default: `width`. */
  readonly maxWidth?: number;
}

/**
 * Yields the results in the order of the list, with calls that start ahead. If the consumer stops early, the
 * remaining calls finish in the background and their errors are ignored.
 */
export async function* mapAhead<T, R>(
  list: readonly T[],
  { width: firstWidth, maxWidth = firstWidth }: AheadOptions,
  work: (item: T, index: number) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const begun: Promise<R>[] = [];
  let width = firstWidth;
  for (let index = 0; index < list.length; index++) {
    while (begun.length < list.length && begun.length < index + width) {
      const at = begun.length;
      const one = (async () => work(list[at], at))();
      one.catch(() => undefined);
      begun.push(one);
    }
    const result = await begun[index];
    // The consumer now owns the result; drop the reference so that it can be collected.
    delete begun[index];
    yield result;
    width = Math.min(maxWidth, width * 2);
  }
}

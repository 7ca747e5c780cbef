/** Work that waits, some of it at once: requests to a distant store cost latency, and memory while they are under way. */

/** The results in the order of the list; `width` calls run at once. Throws what the first call to fail throws; none is begun then. */
export async function mapAtOnce<T, R>(
  list: readonly T[],
  width: number,
  work: (item: T, place: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    while (next < list.length && !hasFailed) {
      const place = next++;
      try {
        results[place] = await work(list[place], place);
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
  /** Calls that are begun and not taken at first, the one that is waited for among them; 1 is one after the other. */
  readonly width: number;
  /** Each result that is taken doubles the width up to here. Default: `width`. */
  readonly maxWidth?: number;
}

/**
 * The results in the order of the list, begun before they are asked for. Who ends early leaves some to end by themselves; what
 * those fail with is nobody's.
 */
export async function* mapAhead<T, R>(
  list: readonly T[],
  { width: firstWidth, maxWidth = firstWidth }: AheadOptions,
  work: (item: T, place: number) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const begun: Promise<R>[] = [];
  let width = firstWidth;
  for (let place = 0; place < list.length; place++) {
    while (begun.length < list.length && begun.length < place + width) {
      const at = begun.length;
      const one = (async () => work(list[at], at))();
      one.catch(() => undefined);
      begun.push(one);
    }
    const result = await begun[place];
    // What was taken is the caller's alone to keep.
    delete begun[place];
    yield result;
    width = Math.min(maxWidth, width * 2);
  }
}

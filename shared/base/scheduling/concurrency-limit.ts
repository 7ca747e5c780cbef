/** Limits how many tasks run concurrently, because each holds an open file. */

export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

/** Runs up to `max` tasks at a time. The others wait in call order. */
export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async task => {
    if (running < max) running++;
    else await new Promise<void>(resolve => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // Passes the slot directly to the next task, so that no new call can take it first.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

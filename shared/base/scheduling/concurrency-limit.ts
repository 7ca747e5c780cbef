/** Bounds how many tasks of a kind run at once: each one holds an open file. */

export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

/** At most `most` tasks at once; the others wait in the order of their calls. */
export function createGate(most: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async task => {
    if (running < most) running++;
    else await new Promise<void>(resolve => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The place passes on to the next one, so that no newcomer takes it in between.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

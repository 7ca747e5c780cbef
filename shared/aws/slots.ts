/** Bounds how many calls run at once, how many wait for that, and how long: each one that runs holds a connection. */
import { ThrottledError } from '../base/ports/throttled.ts';

export interface SlotLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** Runs a task in its turn. Throws ThrottledError, the task not begun, where too many wait or the wait is too long. */
export type Slots = <T>(task: () => Promise<T>) => Promise<T>;

export function createSlots({ maxRunning, maxWaiting, maxWaitMs }: SlotLimits): Slots {
  // A Set keeps the order of its members and gives up one in the middle without a search.
  const waiting = new Set<() => void>();
  let running = 0;

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new ThrottledError(`none of ${maxRunning} connections became free within ${maxWaitMs} ms`));
      }, maxWaitMs);
      waiting.add(begin);
    });

  return async task => {
    if (running < maxRunning) running++;
    else if (waiting.size >= maxWaiting)
      throw new ThrottledError(`${maxWaiting} calls wait for a connection; retry`);
    else await wait();
    try {
      return await task();
    } finally {
      // The place passes on to the next one, so that no newcomer takes it in between.
      const [next] = waiting;
      if (next === undefined) running--;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}

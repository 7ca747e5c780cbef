/**
 * Bounds how many calls run at once, how many wait, and how long they wait. Each running call holds a
 * connection.
 */
import { ThrottledError } from '../base/ports/throttled.ts';

interface SlotLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/**
 * Runs a task when a slot is free. Throws ThrottledError before the task starts if too many tasks wait or the
 * wait is too long.
 */
type Slots = <T>(task: () => Promise<T>) => Promise<T>;

export function createSlots({ maxRunning, maxWaiting, maxWaitMs }: SlotLimits): Slots {
  // A Set keeps insertion order and deletes from the middle without a search.
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
        reject(
          new ThrottledError(
            `no connection became free within ${maxWaitMs} ms (limit: ${maxRunning}); retry`,
          ),
        );
      }, maxWaitMs);
      waiting.add(begin);
    });

  return async task => {
    if (running < maxRunning) running++;
    else if (waiting.size >= maxWaiting)
      throw new ThrottledError(`too many calls wait for a connection (limit: ${maxWaiting}); retry`);
    else await wait();
    try {
      return await task();
    } finally {
      // The slot passes to the next waiting task, so that a newcomer cannot take it in between.
      const [next] = waiting;
      if (next === undefined) running--;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}

import { describe, expect, test } from '@jest/globals';
import { createSlots } from '../../shared/aws/slots.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { errorOf } from './support/limits.ts';

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Tasks that run until a test ends them. */
function tasks() {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const task = (id: number) => (): Promise<number> => {
    begun.push(id);
    return new Promise(resolve => ends.set(id, () => resolve(id)));
  };
  return { begun, task, end: (id: number) => ends.get(id)!() };
}

describe('slots', () => {
  test('run up to the limit, and the others in their order', async () => {
    const slots = createSlots({ maxRunning: 2, maxWaiting: 10, maxWaitMs: 60_000 });
    const { begun, task, end } = tasks();
    const all = [0, 1, 2, 3, 4].map(id => slots(task(id)));
    await turn();
    expect(begun).toEqual([0, 1]);
    end(1);
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    end(0);
    end(2);
    await turn();
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    end(3);
    end(4);
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
    expect(await slots(async () => 'free again')).toBe('free again');
  });

  test('are released by a task that fails', async () => {
    const slots = createSlots({ maxRunning: 1, maxWaiting: 10, maxWaitMs: 60_000 });
    const failing = slots(() => Promise.reject(new Error('broken')));
    const next = slots(async () => 'next');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });

  test('refuse a task if too many wait', async () => {
    const slots = createSlots({ maxRunning: 1, maxWaiting: 1, maxWaitMs: 60_000 });
    const { begun, task, end } = tasks();
    const running = slots(task(0));
    const waiting = slots(task(1));
    expect(await errorOf(slots(task(2)))).toBeInstanceOf(ThrottledError);
    end(0);
    await running;
    await turn();
    end(1);
    await waiting;
    expect(begun).toEqual([0, 1]);
  });

  test('limit the wait of a task in the queue', async () => {
    const slots = createSlots({ maxRunning: 1, maxWaiting: 1, maxWaitMs: 10 });
    const { begun, task, end } = tasks();
    const running = slots(task(0));
    expect(await errorOf(slots(task(1)))).toBeInstanceOf(ThrottledError);
    const waiting = slots(async () => 'took the free slot of the queue');
    end(0);
    await running;
    expect(await waiting).toBe('took the free slot of the queue');
    expect(begun).toEqual([0]);
  });
});

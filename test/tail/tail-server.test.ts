/** Tails and pushes in one process: what a push never waits for, and how pushes share the cost of tails. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Connections } from '../../shared/base/ports/connections.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import {
  BUSY_PAUSE_MS,
  MAX_PAUSE_MS,
  MAX_QUEUED_ENTRIES,
  TAIL_PAUSE_MS,
} from '../../shared/read/tail/bounds.ts';
import { TailServer } from '../../shared/read/tail/tail-server.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import { drive, linesOf, processOver, requestFor, sharedParts, TENANT } from './support.ts';

/** Chunks are encoded and read in threads; some hundred iterations are enough, and an endless wait ends. */
const TURNS = 20_000;

/** Lets work continue while time does not move. */
async function turnsUntil(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < TURNS && !holds(); turn++) await nextTurn();
  expect(holds()).toBe(true);
}

const atRest = () => 0;

async function withServer(
  post: Connections['post'],
  busyShare: () => number,
  use: (parts: {
    clock: ReturnType<typeof virtualClock>;
    open: (id: string, request?: Partial<TailRequest>) => Promise<void>;
    /** Resolves when it is answered, without a move of the clock. */
    push: (...lines: string[]) => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  const clock = virtualClock();
  const shared = sharedParts(clock);
  const connections: Connections = { ...shared.connections, post };
  const { parts, service, push, failures } = processOver(shared, {
    seed: 1,
    joinMs: 0,
    savesCursor: false,
    limits: { maxConcurrentTailRequests: 0 },
    connections,
  });
  const server = new TailServer({ ...parts, hearsAll: true, pollMs: 5_000, busyShare });
  const settle = async (work: Promise<unknown>): Promise<void> => {
    let isSettled = false;
    const settled = work.finally(() => (isSettled = true));
    await turnsUntil(() => isSettled);
    await settled;
  };
  try {
    await use({
      clock,
      async open(id, request = {}) {
        shared.connections.open(id);
        await settle(service.open({ ...requestFor(clock), ...request }, id));
        server.opened(TENANT);
        // Tails that arrive shortly after each other join together.
        await clock.advance(TAIL_PAUSE_MS);
      },
      push: (...lines) => settle(push(lines)),
    });
    expect(failures).toEqual([]);
  } finally {
    // A step may be giving slow clients their while.
    await drive(clock, server.stop());
  }
}

test('clients that never read delay no push, and their waiting entries are bounded', async () => {
  const happened: string[] = [];
  const post = (): Promise<never> => {
    happened.push('posted');
    return new Promise<never>(() => undefined);
  };
  await withServer(post, atRest, async ({ clock, open, push }) => {
    for (let i = 0; i < 30; i++) await open(`c${i}`);
    await push('first');
    happened.push('answered');
    await turnsUntil(() => happened.length === 31);
    // The response comes first, then one frame for each; no client gets a second one.
    expect(happened[0]).toBe('answered');
    const startMs = clock.nowMs();
    const lines = Array.from({ length: MAX_QUEUED_ENTRIES }, (_, i) => `line ${i}`);
    for (let i = 0; i < 3; i++) await push(...lines);
    expect(clock.nowMs()).toBe(startMs);
    await clock.advance(1_000);
    await push('after the queues are full');
    expect(happened).toHaveLength(31);
  });
});

test('an idle store dispatches immediately, and pushes that arrive shortly after each other are shown together', async () => {
  const posted: { atMs: number; lines: string[] }[] = [];
  let nowMs = () => 0;
  const post = async (_: string, message: Uint8Array): Promise<'ok'> => {
    posted.push({ atMs: nowMs(), lines: linesOf([Buffer.from(message).toString()]) });
    return 'ok';
  };
  await withServer(post, atRest, async ({ clock, open, push }) => {
    nowMs = clock.nowMs;
    await open('c');
    await push('0');
    await turnsUntil(() => posted.length === 1);
    const startMs = clock.nowMs();
    for (let i = 1; i <= 4; i++) {
      await clock.advance(10);
      await push(`${i}`);
    }
    expect(posted).toHaveLength(1);
    await clock.advance(TAIL_PAUSE_MS - 40);
    await turnsUntil(() => posted.length === 2);
    await clock.advance(10 * TAIL_PAUSE_MS);
    await push('5');
    await turnsUntil(() => posted.length === 3);
    expect(posted.map(({ lines }) => lines)).toEqual([['0'], ['1', '2', '3', '4'], ['5']]);
    expect(posted.map(({ atMs }) => atMs - startMs)).toEqual([0, TAIL_PAUSE_MS, 11 * TAIL_PAUSE_MS]);
  });
});

test('a thread that always works shows lines later, but not much', async () => {
  const posted: number[] = [];
  const post = async (): Promise<'ok'> => {
    posted.push(1);
    return 'ok';
  };
  await withServer(
    post,
    () => 1,
    async ({ clock, open, push }) => {
      await open('c');
      await push('0');
      await turnsUntil(() => posted.length === 1);
      await push('1');
      await clock.advance(BUSY_PAUSE_MS - 1);
      expect(posted).toHaveLength(1);
      await clock.advance(1);
      await turnsUntil(() => posted.length === 2);
      for (let i = 0; i < 40; i++) await open(`c${i}`, { limit: 0 });
      const before = posted.length;
      await clock.advance(MAX_PAUSE_MS);
      await push('2');
      await turnsUntil(() => posted.length === before + 41);
      await push('3');
      await clock.advance(MAX_PAUSE_MS);
      await turnsUntil(() => posted.length === before + 82);
    },
  );
});

test('equal tails get the same bytes, others get separate ones', async () => {
  const posted = new Map<string, Uint8Array>();
  const post = async (id: string, message: Uint8Array): Promise<'ok'> => {
    posted.set(id, message);
    return 'ok';
  };
  await withServer(post, atRest, async ({ open, push }) => {
    const query = '{app="a"} |= "x"';
    await open('a', { query });
    await open('b', { query });
    await open('other flags', { query, flags: ['any'] });
    await open('other form', { query, form: 'legacy' });
    await open('other query', { query: '{app="a"} |= "y"' });
    await push('x y', 'x', 'y');
    await turnsUntil(() => posted.size === 5);
    expect(posted.get('a')).toBe(posted.get('b'));
    const shown = (id: string) => linesOf([Buffer.from(posted.get(id)!).toString()]);
    expect([shown('a'), shown('other flags'), shown('other query')]).toEqual([
      ['x y', 'x'],
      ['x y', 'x'],
      ['x y', 'y'],
    ]);
    expect(Buffer.from(posted.get('other flags')!).toString()).toContain('"encodingFlags":["any"]');
    expect(Buffer.from(posted.get('other form')!).toString()).toContain('"entries":[{"ts":');
  });
});

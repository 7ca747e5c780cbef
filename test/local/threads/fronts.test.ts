/** Sockets of live tails that belong to other fronts; all else of these is tested with the store (end-to-end/fronts.test.ts). */
import { expect, test } from '@jest/globals';
import { Fronts, type FrontsParts } from '../../../local/threads/fronts.ts';
import { virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryConnections } from '../../../shared/base/ports/memory/connections.ts';

const MESSAGE = new Uint8Array([1, 2, 3]);

test('posts to the front that has the socket; a front that is lost takes its tails with it', async () => {
  const closed = Promise.withResolvers<unknown>();
  const opened: unknown[] = [];
  const lost: number[] = [];
  const fronts = new Fronts({
    data: index => ({ index }) as never,
    onLost: index => lost.push(index),
    hub: { reply: async () => ({ value: undefined }), hear: () => undefined },
    answer: async () => ({ status: 200, headers: {}, body: '' }),
    openTail: async ({ tenant }, connectionId) => void opened.push([tenant, connectionId]),
    closeTail: async (tenant, connectionId) => closed.resolve([tenant, connectionId]),
    log: { debug() {}, warn() {}, error() {} } satisfies FrontsParts['log'],
    drainMs: 0,
    entry: new URL('./support/tailing-front-thread.mjs', import.meta.url),
  });
  try {
    await fronts.start(1);
    expect(opened).toEqual([['acme', 'tail-1']]);
    const connections = fronts.connectionsWith(memoryConnections({ clock: virtualClock(1_000) }));
    expect(await connections.post('tail-1', MESSAGE)).toBe('ok');
    expect(await connections.post('of nobody', MESSAGE)).toBe('gone');
    fronts.tell({ kind: 'forget', tenant: 'acme' });
    expect(await closed.promise).toEqual(['acme', 'tail-1']);
    expect(lost).toEqual([1]);
  } finally {
    await fronts.stop();
  }
});

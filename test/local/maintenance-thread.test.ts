/** How the thread is kept, cancelled, lost and replaced; what it does with days is in maintenance-thread-days.test.ts. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MaintenanceThread, type MaintenanceThreadOptions } from '../../local/maintenance-thread.ts';
import { noRewrites } from '../../shared/compaction/day-rewriter.ts';
import { CorruptionError } from '../../shared/model/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/model/limits.ts';
import { virtualClock } from '../../shared/ports/memory/clock.ts';

const forever = new AbortController().signal;
let thread: MaintenanceThread;
afterEach(() => thread.close());

function failing(options: Partial<MaintenanceThreadOptions> = {}): MaintenanceThread {
  thread = new MaintenanceThread({
    storage: { kind: 'embedded', dataDir: '' },
    compaction: { targetBytes: 1, inlineMaxBytes: 1, graceMs: 1 },
    removes: true,
    limitsOf: () => DEFAULT_LIMITS,
    entry: new URL('./failing-maintenance-worker.mjs', import.meta.url),
    clock: virtualClock(0),
    ...options,
  });
  return thread;
}

const ask = (tenant: string, signal = forever): Promise<unknown> =>
  thread.compactDay({ tenant, day: 7, force: true, untilMs: Infinity, signal });

describe('a maintenance thread', () => {
  test('starts when it is needed, is kept, and gets the work and what it needs of the limits', async () => {
    failing({ limitsOf: tenant => ({ ...DEFAULT_LIMITS, retentionPeriodNs: BigInt(tenant.length) }) });
    expect(thread.starts).toBe(0);
    expect(await ask('acme')).toEqual({
      task: { kind: 'compact', work: { tenant: 'acme', day: 7, force: true, untilMs: Infinity } },
      limits: { deletionMode: 'filter-and-delete', retentionPeriodNs: 4n, retentionStream: [] },
      others: 0,
    });
    await ask('acme');
    expect(thread.starts).toBe(1);
  });

  test('that ends fails what it was at, and the next call starts another', async () => {
    failing();
    const waits = ask('waits');
    const exits = ask('exits');
    for (const lost of [waits, exits]) {
      await expect(lost).rejects.toMatchObject({
        name: 'MaintenanceThreadLostError',
        message: 'the maintenance thread ended with code 3',
      });
    }
    await ask('acme');
    expect(thread.starts).toBe(2);
  });

  test('that needs more memory than it has says so', async () => {
    failing({ maxHeapMb: 32 });
    await expect(ask('eats')).rejects.toMatchObject({
      name: 'MaintenanceThreadLostError',
      message: 'the maintenance thread ran out of memory',
      cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
    });
    await ask('acme');
  });

  test('whose file cannot be loaded says why', async () => {
    failing({ entry: new URL('./no-such-file.mjs', import.meta.url) });
    await expect(ask('acme')).rejects.toMatchObject({
      message: expect.stringContaining('ended with code 1'),
      cause: { message: expect.stringContaining('no-such-file') },
    });
  });

  test('is asked to cancel, and the call ends with the reason when it has', async () => {
    failing();
    const cancel = new AbortController();
    const waits = ask('waits', cancel.signal);
    const reason = new Error('the client went away');
    cancel.abort(reason);
    await expect(waits).rejects.toBe(reason);
    await expect(ask('acme', cancel.signal)).rejects.toBe(reason);
    expect(await ask('acme')).toMatchObject({ others: 0 });
    expect(thread.starts).toBe(1);
  });

  test('that does not notice keeps nobody waiting', async () => {
    const clock = virtualClock(0);
    failing({ clock });
    const cancel = new AbortController();
    let ended = false;
    const deaf = ask('deaf', cancel.signal).finally(() => {
      ended = true;
    });
    deaf.catch(() => undefined);
    await ask('acme');
    const reason = new Error('enough');
    cancel.abort(reason);
    await clock.advance(4999);
    expect(ended).toBe(false);
    await clock.advance(1);
    await expect(deaf).rejects.toBe(reason);
  });

  test('works on four days at once; others wait, in their order, and may leave', async () => {
    failing();
    const cancels = Array.from({ length: 4 }, () => new AbortController());
    const four = cancels.map(({ signal }) => ask('waits', signal).catch((error: unknown) => error));
    const gone = new AbortController();
    const leaves = ask('acme', gone.signal);
    let answered = false;
    const fifth = ask('acme').finally(() => {
      answered = true;
    });
    gone.abort(new Error('gone'));
    await expect(leaves).rejects.toThrow('gone');
    for (let i = 0; i < 20; i++) await nextTurn();
    expect(answered).toBe(false);
    cancels[0].abort();
    expect(await fifth).toMatchObject({ others: 3 });
    for (const cancel of cancels) cancel.abort();
    await Promise.all(four);
    expect(await ask('acme')).toMatchObject({ others: 0 });
  });

  test('tells what rewriting did before it failed, and with which error', async () => {
    failing();
    const figures = { ...noRewrites(), rows: 1, readBytes: 0 };
    const work = { tenant: 'rewrites', day: 7, untilMs: Infinity, signal: forever };
    const error: unknown = await thread.deleteOfDay(work, figures).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ message: 'chunk x: broken' });
    expect(figures).toEqual({ ...noRewrites(), rows: 4, looked: 2, readBytes: 10 });
  });

  test('is ended where it does not close, and none starts any more', async () => {
    const clock = virtualClock(0);
    failing({ clock });
    const stuck = ask('hangs');
    const rest = Array.from({ length: 4 }, () => ask('acme'));
    for (const one of [stuck, ...rest]) one.catch(() => undefined);
    await nextTurn();
    const closing = thread.close();
    await clock.advance(5000);
    await closing;
    for (const one of [stuck, ...rest])
      await expect(one).rejects.toThrow('the maintenance thread is stopped');
    await expect(ask('acme')).rejects.toThrow('the maintenance thread is stopped');
    expect(thread.starts).toBe(1);
  });
});

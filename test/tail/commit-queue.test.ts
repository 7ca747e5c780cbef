/** Served commits, and reads of the log, if one process hears of all commits. */
import { expect, test } from '@jest/globals';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { MAX_NOTICES } from '../../shared/read/tail/bounds.ts';
import { CommitQueue } from '../../shared/read/tail/commit-queue.ts';
import type { LoggedChunk, TailLog } from '../../shared/storage/catalog/tail-log.ts';

function commits(from: number, to: number, stampMs: number): LoggedChunk[] {
  return Array.from(
    { length: to - from },
    (_, i) => ({ stampMs, record: { id: `chunk ${from + i}` } }) as LoggedChunk,
  );
}

function takeAll(queue: CommitQueue): string[] {
  const ids: string[] = [];
  for (let batch = queue.take(); batch.length > 0; batch = queue.take())
    ids.push(...batch.map(one => one.record.id));
  return ids;
}

test('the log is read only for commits that exceeded the queue, each once, also after a failed read', async () => {
  const clock = virtualClock();
  const reads: number[] = [];
  let logged: LoggedChunk[] = [];
  let failure: Error | undefined;
  const log = {
    read: async (_: string, fromMs: number) => {
      reads.push(fromMs);
      if (failure !== undefined) throw failure;
      return logged.filter(({ stampMs }) => stampMs >= fromMs);
    },
  } as unknown as TailLog;
  const queue = new CommitQueue({ log, clock, tenant: 'acme', hearsAll: true });
  // Like the log: a commit that is not accepted is logged, and then reported.
  const told = (chunks: LoggedChunk[]): void => {
    for (const chunk of chunks) {
      if (queue.notice(chunk)) continue;
      logged = [...logged, chunk];
      queue.overflowed();
    }
  };
  told(commits(0, 3, clock.nowMs()));
  await queue.gather({ readsLog: true });
  expect(takeAll(queue)).toEqual(['chunk 0', 'chunk 1', 'chunk 2']);
  await clock.advance(600_000);
  await queue.gather({ readsLog: true });
  expect(reads).toEqual([]);

  told(commits(3, MAX_NOTICES + 13, clock.nowMs()));
  expect(logged.map(({ record }) => record.id)).toEqual(
    Array.from({ length: 10 }, (_, i) => `chunk ${MAX_NOTICES + 3 + i}`),
  );
  failure = new Error('the table is not there');
  await expect(queue.gather({ readsLog: false })).rejects.toThrow('the table is not there');
  failure = undefined;
  expect(queue.hasNotices).toBe(true);
  await queue.gather({ readsLog: false });
  const ids = takeAll(queue);
  expect(new Set(ids).size).toBe(MAX_NOTICES + 10);
  expect(ids).toHaveLength(MAX_NOTICES + 10);
  // Reads after the last look, not from the beginning.
  expect(Math.min(...reads)).toBeGreaterThan(clock.nowMs() - 600_000);
  await queue.gather({ readsLog: true });
  expect([queue.hasNotices, reads.length]).toEqual([false, 2]);
});

/** The lines of a push are compressed in the ingest thread if no other push needs it, and in the thread pool otherwise. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { PUSH_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { ZstdEncoder } from '../../shared/storage/codec/zstd-encoder.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

const LINE = 'a line of a log that compresses well '.repeat(100);

let pooled: jest.SpiedFunction<ZstdEncoder['pack']>;
let committer: GroupCommitter;
beforeEach(() => {
  pooled = jest.spyOn(ZstdEncoder.prototype, 'pack');
  const catalog = new Catalog({
    table: memoryTable({ clock: SYSTEM_CLOCK }),
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
  });
  const options = {
    waitMs: 0,
    maxGroupBytes: 4 * 1024 * 1024,
    inlineMaxBytes: 0,
    compression: PUSH_COMPRESSION,
  };
  committer = new GroupCommitter({
    store: memoryObjectStore(),
    catalog,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    options,
  });
});
afterEach(() => pooled.mockRestore());

/** A push of at most this many bytes of lines. */
function linesOf(bytes: number) {
  const count = Math.floor(bytes / (LINE.length + 4));
  return pushOf(
    Array.from({ length: count }, (_, time) => {
      return { stream: { app: 'a' }, day: DAY, time, line: `${time} ${LINE}`, metadata: {} };
    }),
  );
}

test('the small pages of a push alone take no task of the pool', async () => {
  await committer.commit('t', linesOf(900_000));
  expect(pooled).not.toHaveBeenCalled();
});

test('a line that is larger than a page is compressed in the pool', async () => {
  const line = LINE.repeat(Math.ceil(3_000_000 / LINE.length));
  await committer.commit('t', pushOf([{ stream: { app: 'a' }, day: DAY, time: 1, line, metadata: {} }]));
  expect(pooled).toHaveBeenCalledTimes(1);
});

test('several pages are compressed in parallel', async () => {
  await committer.commit('t', linesOf(3_000_000));
  expect(pooled.mock.calls.length).toBeGreaterThan(1);
});

test('while a push of any tenant is being read, the thread leaves the work to the pool', async () => {
  const end = committer.announce('another tenant');
  await committer.commit('t', linesOf(200_000));
  expect(pooled).toHaveBeenCalledTimes(1);
  end();
  await committer.commit('t', linesOf(200_000));
  expect(pooled).toHaveBeenCalledTimes(1);
});

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { type ObjectBody, type ObjectStore, partsOfBody } from '../../shared/base/ports/object-store.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

const [clock, ids] = [SYSTEM_CLOCK, SYSTEM_IDS];
const MIB = 1024 * 1024;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'logboom-output-'));
});
afterEach(() => rm(root, { recursive: true }));

/** Merges two pushes, which have every other line. */
async function merge(store: ObjectStore, lineBytes: number, lines: number): Promise<void> {
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const committer = new GroupCommitter({ catalog, store, clock, ids });
  const entries = Array.from({ length: lines }, (_, i): DatedEntry => {
    const line = `line ${i} ${ids.randomHex(lineBytes / 2)}`;
    return { stream: { app: 'a' }, day: DAY, time: i, line, metadata: {} };
  });
  for (const half of [0, 1]) await committer.commit('t', pushOf(entries.filter((_, i) => i % 2 === half)));
  const options = { targetBytes: 128 * MIB, inlineMaxBytes: 0, graceMs: 600_000 };
  const compactor = new Compactor({ catalog, store, clock, ids, options });
  const { signal } = new AbortController();
  await compactor.compactDay({ tenant: 't', day: DAY, force: true, untilMs: Infinity, signal });
}

test('a merge holds a part of its output, and leaves no temporary file', async () => {
  const files = await openFileObjectStore(root);
  /** Memory of the parts: it is freed, or has other parts later. */
  const memory = new Set<ArrayBufferLike>();
  let [total, most] = [0, 0];
  const store: ObjectStore = {
    ...files,
    writer() {
      const writer = files.writer!();
      return {
        ...writer,
        async write(part) {
          memory.add(part.buffer);
          total += part.length;
          await writer.write(part);
          most = Math.max(
            most,
            [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0),
          );
        },
      };
    },
  };
  await merge(store, 1000, 16_000);
  expect(total).toBeGreaterThan(7 * MIB);
  expect(most).toBeLessThan(4 * MIB);
  expect(await readdir(path.join(root, 'temporary'))).toEqual([]);
});

test('a distant store may still be sending what it answered for', async () => {
  const inner = memoryObjectStore();
  let stored: ObjectBody = [];
  await merge(
    {
      ...inner,
      isDistant: true,
      putIfAbsent(key, body) {
        stored = body;
        return inner.putIfAbsent(key, body);
      },
    },
    100,
    2000,
  );
  const lengths = partsOfBody(stored).map(({ length }) => length);
  expect(lengths.length).toBeGreaterThan(1);
  expect(lengths.every(length => length > 0)).toBe(true);
});

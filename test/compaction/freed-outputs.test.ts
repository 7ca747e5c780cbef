import { expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectBody, ObjectStore } from '../../shared/base/ports/object-store.ts';
import { partsOfBody } from '../../shared/base/ports/object-store.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

const [clock, ids] = [SYSTEM_CLOCK, SYSTEM_IDS];

/** Lengths of the parts of what a merge stored, after it ended. */
async function partsAfterMerge(isDistant: boolean): Promise<readonly number[]> {
  const inner = memoryObjectStore();
  let stored: ObjectBody = [];
  const store: ObjectStore = {
    ...inner,
    isDistant,
    putIfAbsent(key, body) {
      stored = body;
      return inner.putIfAbsent(key, body);
    },
  };
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const committer = new GroupCommitter({ catalog, store, clock, ids });
  const entries = Array.from(
    { length: 2000 },
    (_, i): DatedEntry => ({
      stream: { app: 'a' },
      day: DAY,
      time: i,
      line: `line ${i} ${Math.sin(i)}`,
      metadata: {},
    }),
  );
  for (const half of [0, 1]) await committer.commit('t', pushOf(entries.filter((_, i) => i % 2 === half)));
  const options = { targetBytes: 128 * 1024 * 1024, inlineMaxBytes: 0, graceMs: 600_000 };
  const compactor = new Compactor({ catalog, store, clock, ids, options });
  const { signal } = new AbortController();
  await compactor.compactDay({ tenant: 't', day: DAY, force: true, untilMs: Infinity, signal });
  return partsOfBody(stored).map(({ length }) => length);
}

test('frees stored outputs of a merge, except the footer, which the record may keep', async () => {
  const lengths = await partsAfterMerge(false);
  expect(lengths.length).toBeGreaterThan(1);
  expect(lengths.slice(0, -1).every(length => length === 0)).toBe(true);
  expect(lengths[lengths.length - 1]).toBeGreaterThan(0);
});

test('a distant store may still be sending what it answered for', async () => {
  const lengths = await partsAfterMerge(true);
  expect(lengths.length).toBeGreaterThan(1);
  expect(lengths.every(length => length > 0)).toBe(true);
});

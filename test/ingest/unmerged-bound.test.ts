/** Pushes are delayed if compaction found too many chunks of their tenant, in every process. */
import { describe, expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { UnmergedBound } from '../../shared/write/ingest/unmerged-bound.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';

const MAX = 20_000;
const settled = () => new Promise(resolve => setImmediate(resolve));

function setUp(isDistant = true) {
  const clock = manualClock();
  const inner = memoryTable({ clock });
  let queries = 0;
  let puts = 0;
  let isBroken = false;
  const table = {
    ...inner,
    isDistant,
    query: async (...given: Parameters<typeof inner.query>) => {
      queries++;
      if (isBroken) throw new Error('down');
      return inner.query(...given);
    },
    put: async (...given: Parameters<typeof inner.put>) => {
      puts++;
      return inner.put(...given);
    },
  };
  const catalogOf = () => new Catalog({ table, clock, ids: countingIds() });
  const [maintenance, pushing] = [catalogOf(), catalogOf()];
  const bound = new UnmergedBound({ chunksOf: t => pushing.unmerged.of(t), maxChunks: MAX, clock });
  /** Two pushes: the first one makes the look. */
  const push = async (tenant: string) => {
    try {
      bound.admit(tenant);
    } catch {}
    await settled();
    bound.admit(tenant);
  };
  const counts = () => ({ queries, puts });
  return { clock, maintenance, push, bound, counts, breakTable: () => (isBroken = true) };
}

describe('pushes of a tenant with many unmerged chunks', () => {
  test('get 429 with the number and a hint, while those of other tenants are accepted', async () => {
    const { maintenance, push } = setUp();
    await maintenance.unmerged.note('acme', 1, 12_000);
    await maintenance.unmerged.note('acme', 2, 9_000);
    await maintenance.unmerged.note('other', 2, 19_999);
    await expect(push('acme')).rejects.toMatchObject({
      status: 429,
      message:
        'too many pushes of tenant acme wait to be merged (21000, limit: 20000); send fewer and larger pushes, and retry in a minute',
    });
    await push('other');
  });

  test('are accepted again when merges have caught up, or compaction has not reported for 10 minutes', async () => {
    const { clock, maintenance, push } = setUp();
    await maintenance.unmerged.note('acme', 1, 30_000);
    await expect(push('acme')).rejects.toThrow('30000');
    clock.advance(20_000);
    await maintenance.unmerged.note('acme', 1, 100);
    await push('acme');
    clock.advance(20_000);
    await maintenance.unmerged.note('acme', 1, 30_000);
    await expect(push('acme')).rejects.toThrow('30000');
    clock.advance(601_000);
    await push('acme');
  });

  test('are accepted if the number cannot be read', async () => {
    const { clock, maintenance, push, breakTable } = setUp();
    await maintenance.unmerged.note('acme', 1, 30_000);
    await expect(push('acme')).rejects.toThrow('30000');
    breakTable();
    clock.advance(20_000);
    await push('acme');
  });
});

describe('requests for the number of unmerged chunks', () => {
  test('are sent once per 15 s for a tenant, and write nothing for a small one', async () => {
    const { clock, maintenance, bound, counts } = setUp();
    for (let second = 0; second < 60; second++) {
      await maintenance.unmerged.note('acme', 1, 4_999);
      for (let i = 0; i < 10; i++) bound.admit('acme');
      await settled();
      clock.advance(1000);
    }
    expect(counts()).toEqual({ queries: 4, puts: 0 });
  });

  test('write a large tenant every 10 s, and once when it is small again', async () => {
    const { clock, maintenance, counts } = setUp();
    for (let second = 0; second < 60; second++) {
      await maintenance.unmerged.note('acme', 1, 50_000);
      clock.advance(1000);
    }
    for (let i = 0; i < 10; i++) await maintenance.unmerged.note('acme', 1, 10);
    expect(counts()).toEqual({ queries: 0, puts: 7 });
  });

  test('write nothing on a single machine', async () => {
    const { maintenance, counts } = setUp(false);
    await maintenance.unmerged.note('acme', 1, 1_000_000);
    expect(counts()).toEqual({ queries: 0, puts: 0 });
  });
});

/** Pushes are refused if too many chunks of their tenant are not merged, in every process, also if nothing merges. */
import { describe, expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { CHUNKS_OF_MARKER } from '../../shared/storage/catalog/unmerged-chunks.ts';
import { UnmergedBound } from '../../shared/write/ingest/unmerged-bound.ts';
import { record } from '../catalog/records.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';

const MAX = 20_000;
const MAX_MARKERS = Math.ceil(MAX / CHUNKS_OF_MARKER);
const settled = () => new Promise(resolve => setImmediate(resolve));
/** Chunks with a marker each. */
const marked = (count: number, tenant: string, from = 0) =>
  Array.from({ length: count }, (_, i) => record((from + i) * CHUNKS_OF_MARKER, { tenant }));

function setUp() {
  // A swap over a shared table rests before it removes chunks.
  const clock = { ...manualClock(), sleep: async () => undefined };
  const inner = memoryTable({ clock });
  let queries = 0;
  let isBroken = false;
  const table = {
    ...inner,
    isDistant: true,
    query: async (...given: Parameters<typeof inner.query>) => {
      queries++;
      if (isBroken) throw new Error('down');
      return inner.query(...given);
    },
  };
  const catalogOf = () => new Catalog({ table, clock, ids: countingIds() });
  const [others, own] = [catalogOf(), catalogOf()];
  const chunksOf = (tenant: string) => own.unmerged.of(tenant, MAX);
  const bound = new UnmergedBound({ chunksOf, maxChunks: MAX, clock });
  /** Two pushes: the first one makes the look. */
  const push = async (tenant: string) => {
    try {
      bound.admit(tenant);
    } catch {}
    await settled();
    bound.admit(tenant);
  };
  const swap = async (tenant: string, removed: ReturnType<typeof marked>) => {
    const lease = (await others.leases.take('merge', 60_000))!;
    const { records: _, ...day } = (await others.day(tenant, removed[0].day))!;
    await others.swap({ tenant, day, lease, removed, added: [], graceMs: 0 });
    await others.leases.release(lease);
  };
  const queriesOf = async (run: () => Promise<void>) => {
    const before = queries;
    await run();
    return queries - before;
  };
  return { clock, others, push, bound, swap, queriesOf, breakTable: () => (isBroken = true) };
}

describe('pushes of a tenant with many unmerged chunks', () => {
  test('get 429 with the number and a hint, although nothing merges, while those of other tenants are accepted', async () => {
    const { others, push } = setUp();
    await others.addChunks(marked(MAX_MARKERS, 'acme'));
    await others.addChunks(marked(MAX_MARKERS - 1, 'other'));
    await expect(push('acme')).rejects.toMatchObject({
      status: 429,
      message:
        'too many pushes of tenant acme wait to be merged (about 20480, limit: 20000); send fewer and larger pushes, and retry in a minute',
    });
    await push('other');
  });

  test('are refused as long as the chunks are there, and accepted when some were merged', async () => {
    const { clock, others, push, swap } = setUp();
    const chunks = marked(MAX_MARKERS, 'acme');
    await others.addChunks(chunks);
    await expect(push('acme')).rejects.toThrow('20480');
    clock.advance(3_600_000);
    await expect(push('acme')).rejects.toThrow('20480');
    await swap('acme', chunks.slice(0, 1));
    clock.advance(20_000);
    await push('acme');
    await others.addChunks(marked(1, 'acme', MAX_MARKERS));
    clock.advance(20_000);
    await expect(push('acme')).rejects.toThrow('20480');
  });

  test('are accepted if the number cannot be read', async () => {
    const { clock, others, push, breakTable } = setUp();
    await others.addChunks(marked(MAX_MARKERS, 'acme'));
    await expect(push('acme')).rejects.toThrow('20480');
    breakTable();
    clock.advance(20_000);
    await push('acme');
  });

  test('ask for the number once per 15 s and tenant', async () => {
    const { clock, bound, queriesOf } = setUp();
    const queries = await queriesOf(async () => {
      for (let second = 0; second < 60; second++) {
        for (let i = 0; i < 10; i++) bound.admit('acme');
        await settled();
        clock.advance(1000);
      }
    });
    expect(queries).toBe(4);
  });
});

/** Files over the limits of their tenant: short lines with a long key still make batches that fit, and a rate is waited for. */
import { expect, test } from '@jest/globals';
import { assembleEventStore, type EventStore } from '../../functions/event-store.ts';
import { createS3ObjectsHandler } from '../../functions/s3-objects-handler.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';

const LINES = 60_000;
const KEY = 'k'.repeat(300);
const EVENT = {
  source: 'aws.s3',
  'detail-type': 'Object Created',
  detail: { bucket: { name: 'logs' }, object: { key: KEY } },
};

/** Stores a file of 1.2 MB, with its metadata 20 MB; how many of its lines were stored, in how many pushes. */
async function storeFile(rates: { ingestionRateMb: number; ingestionBurstSizeMb: number }) {
  const { limits, server } = DEFAULT_CONFIG;
  const config = {
    ...DEFAULT_CONFIG,
    server: { ...server, logLevel: 'error' as const },
    limits: { ...limits, ...rates, perStreamRateLimitBurst: 100_000_000 },
  };
  const stores = { store: memoryObjectStore(), table: memoryTable({ clock: SYSTEM_CLOCK }) };
  const settings = { config, warnings: [], bucket: 'chunks' };
  const store = assembleEventStore('s3-objects', settings, stores, { LOGBOOM_TENANT: 'acme' });
  let entries = 0;
  let pushes = 0;
  const counting: EventStore = {
    ...store,
    async push(push) {
      const stored = await store.push(push);
      entries += stored;
      pushes++;
      return stored;
    },
  };
  async function* body() {
    const lines = Buffer.from(`${'x'.repeat(20)}\n`.repeat(1000));
    for (let i = 0; i < LINES / 1000; i++) yield lines;
  }
  await createS3ObjectsHandler(counting, async () => ({ lastModifiedMs: Date.now(), body: body() }))(EVENT);
  return { entries, pushes };
}

// [what, limits]
test.each([
  [
    'a burst that holds one batch, a rate that fills it in a second',
    { ingestionRateMb: 20, ingestionBurstSizeMb: 6 },
  ],
  ['a burst that holds all', { ingestionRateMb: 1, ingestionBurstSizeMb: 100 }],
])('%s', async (_, rates) => {
  const { entries, pushes } = await storeFile(rates);
  expect(entries).toBe(LINES);
  expect(pushes).toBeGreaterThan(9);
});

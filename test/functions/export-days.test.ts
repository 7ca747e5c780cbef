/** Function that exports closed days, over stores in memory. */
import { describe, expect, test } from '@jest/globals';
import { createExportDays, exportDaysHandler } from '../../functions/export-days-handler.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';
import { lambdaContext } from './events.ts';

const QUARTER_HOUR_MS = 15 * 60_000;

async function exporter() {
  const store = memoryObjectStore();
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 4096, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  for (const day of [DAY, DAY + 1]) {
    const stream = { app: 'a', service_name: 'web' };
    await committer.commit('shop', pushOf([{ stream, day, time: 1, line: 'a line', metadata: {} }]));
  }
  const objects = new Map<string, Uint8Array>();
  const lines: string[] = [];
  const handler = exportDaysHandler({
    settings: { config: DEFAULT_CONFIG, warnings: ['an old key'] },
    store,
    table,
    files: {
      read: async key => objects.get(key),
      write: async (key, bytes) => void objects.set(key, bytes),
      remove: async key => void objects.delete(key),
    },
    clock: SYSTEM_CLOCK,
    log: createLog('info', { write: line => void lines.push(line) }),
  });
  return { handler, catalog, objects, logged: () => lines.map(line => JSON.parse(line).msg) };
}

describe('the export of closed days', () => {
  test('writes files and its state, and logs a summary', async () => {
    const { handler, objects, logged } = await exporter();
    const report = await handler({}, lambdaContext(QUARTER_HOUR_MS));
    expect(report).toEqual({ steps: 2, files: 2, entries: 2, days: 2, isDone: true });
    expect([...objects.keys()].map(key => key.replace(/\d+\.parquet$/, 'N.parquet')).sort()).toEqual([
      'entries/tenant=shop/day=2024-10-04/service=web/N.parquet',
      'entries/tenant=shop/day=2024-10-05/service=web/N.parquet',
      'export-state/shop.json',
    ]);
    expect(logged()).toEqual(['an old key', 'closed days exported']);
  });

  test('begins no step within the last two minutes of the function', async () => {
    const { handler, objects } = await exporter();
    expect(await handler({}, lambdaContext(120_000))).toMatchObject({ steps: 0, isDone: false });
    expect(objects.size).toBe(0);
    expect(await handler({}, lambdaContext(QUARTER_HOUR_MS))).toMatchObject({ days: 2, isDone: true });
  });

  test('does nothing while another run holds the lease, and releases its own', async () => {
    const { handler, catalog, objects, logged } = await exporter();
    const lease = await catalog.leases.take('open-data', 60_000);
    expect(await handler({}, lambdaContext(QUARTER_HOUR_MS))).toMatchObject({ steps: 0, isDone: false });
    expect([objects.size, logged().at(-1)]).toEqual([0, 'another run exports closed days']);
    await catalog.leases.release(lease!);
    for (const steps of [2, 0])
      expect(await handler({}, lambdaContext(QUARTER_HOUR_MS))).toMatchObject({ steps, isDone: true });
  });

  test.each(['', 'lake/logs', 's3://'])('does not start with the destination %j', destination => {
    const environment = { LOGBOOM_BUCKET: 'b', LOGBOOM_TABLE: 't', AWS_REGION: 'eu-central-1' };
    expect(() => createExportDays({ ...environment, LOGBOOM_EXPORT_TO: destination })).toThrow(
      `LOGBOOM_EXPORT_TO must be s3://BUCKET/PREFIX, got ${JSON.stringify(destination)}`,
    );
  });
});

/** Failures of non-critical components are logged by name. */
import { expect, test } from '@jest/globals';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { manualClock } from '../support/manual-clock.ts';

test('a failed component is named in the log', async () => {
  const clock = manualClock(0);
  const ids = seededIds(1);
  const table = memoryTable({ clock });
  const logged: object[] = [];
  const context = assembleContext({
    config: DEFAULT_CONFIG,
    store: memoryObjectStore(),
    catalog: new Catalog({ table, clock, ids }),
    clock,
    ids,
    usageRecords: new UsageRecords(table),
    log: { warn: (fields, message) => void logged.push({ ...fields, message }) },
    notReady: () => undefined,
    readRuleFiles: async () => [{ tenant: 'acme', file: 'broken.yaml', text: 'groups: 1' }],
  });
  expect(await context.rules.store.list('acme')).toEqual([]);
  const message = 'non-critical component failed';
  expect(logged).toEqual([{ component: 'rule files', err: expect.any(Error), message }]);
});

/** What the store can do without is logged when it fails, by name. */
import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/admin/config-fields.ts';
import { Catalog } from '../../shared/catalog/catalog.ts';
import { UsageRecords } from '../../shared/catalog/usage-records.ts';
import { assembleContext } from '../../shared/http/assemble.ts';
import { seededIds } from '../../shared/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/ports/memory/table.ts';
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

/** Overrides in a function: read with the first request, looked at again with a request after the period. */
import { expect, test } from '@jest/globals';
import { assemble } from '../../functions/assemble.ts';
import { withinPlatform } from '../../functions/settings.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { httpApiEvent, lambdaContext, textOf } from './events.ts';

const KEY = 'config/overrides.yaml';

test('an object of the store', async () => {
  const stores = { store: memoryObjectStore(), table: memoryTable({ clock: SYSTEM_CLOCK }) };
  const config = withinPlatform({
    ...DEFAULT_CONFIG,
    server: { ...DEFAULT_CONFIG.server, logLevel: 'error' },
    runtime: { files: [], object: KEY, periodMs: 1 },
  });
  const push = assemble('push', { config, warnings: [] }, stores);
  const ask = async () => {
    const values = [[`${Date.now()}000000`, 'line']];
    const result = await push(
      httpApiEvent({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'x-scope-orgid': 'acme', 'content-type': 'application/json' },
        body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] }),
        timeEpoch: Date.now(),
      }),
      lambdaContext(),
    );
    return [result.statusCode, textOf(result)] as const;
  };
  await stores.store.putIfAbsent(KEY, Buffer.from('overrides: {acme: {enforced_labels: [team]}}'));
  const [status, text] = await ask();
  expect([status, text]).toEqual([
    400,
    expect.stringMatching(/^missing required labels 'team' for user 'acme'/),
  ]);
  await stores.store.delete(KEY);
  await stores.store.putIfAbsent(KEY, Buffer.from('overrides: {}'));
  // The test does not check how long a change takes.
  while ((await ask())[0] !== 204);
});

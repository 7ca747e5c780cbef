/** `logboom canary` against a store: its output, metrics and exit codes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logboom } from '../bin/run-command.ts';
import { startStore, type TestStore } from './support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startStore('compactor: {compaction_interval: 1s}\nlogboom: {index_sync_interval: 1s}');
});
afterAll(() => store.stop());

const canary = (...args: string[]) =>
  logboom(['canary', '--metrics-port', '0', '--duration', '3s', ...args], {
    env: { LOGBOOM_ADDR: store.url, LOGBOOM_TENANT: 'acme' },
  });

test('all its entries are found once', async () => {
  const { code, stdout, stderr } = await canary('--interval', '50ms', '--check-interval', '500ms');
  expect(stderr).toBe('');
  const totals = JSON.parse(stdout);
  expect(totals).toMatchObject({ missing: 0, websocketMissing: 0, duplicates: 0, metricFailures: 0 });
  // The number depends on the machine.
  expect(totals.entries).toBeGreaterThan(0);
  expect(code).toBe(0);
});

test('a store that refuses its pushes fails it', async () => {
  const { code, stdout, stderr } = await canary('--tenant', 'a|b', '--wait', '1s');
  expect(stderr).toContain('the push got status 4');
  expect(JSON.parse(stdout).refused).toBeGreaterThan(0);
  expect(code).toBe(1);
});

test('an invalid name or number is a usage error', async () => {
  expect((await canary('--lines', '1001')).code).toBe(2);
  expect((await canary('--interval', '1ms')).code).not.toBe(0);
});

/** Usage over real files and a real stop, and in functions, which run nothing between two requests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { assemble } from '../../functions/assemble.ts';
import { withinPlatform } from '../../functions/settings.ts';
import { startLocal } from '../../local/start.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { httpApiEvent, lambdaContext, textOf } from '../functions/events.ts';
import { parseMetrics } from './support/parse-metrics.ts';
import { configOf } from './support/store.ts';

const tenant = { 'x-scope-orgid': 'acme' };

/** One line of the given size. */
function pushBody(app: string, bytes: number): string {
  const atNs = `${BigInt(Date.now()) * 1_000_000n}`;
  return JSON.stringify({ streams: [{ stream: { app }, values: [[atNs, 'x'.repeat(bytes)]] }] });
}

/** Sums over yesterday and today: a test may run at midnight. */
function total(answer: string, figure: string): number {
  const { days } = JSON.parse(answer).data as { days: Record<string, number>[] };
  return days.reduce((sum, day) => sum + day[figure], 0);
}

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'logboom-usage-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('a stop on one machine loses nothing that was counted', async () => {
  const options = {
    config: configOf({}),
    storage: { kind: 'embedded', dataDir },
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
  } as const;
  for (let run = 1; run <= 2; run++) {
    const store = await startLocal(options);
    const push = await fetch(`${store.url}/loki/api/v1/push`, {
      method: 'POST',
      headers: { ...tenant, 'content-type': 'application/json' },
      body: pushBody(`app-${run}`, 100),
    });
    expect(push.status).toBe(204);
    const answer = await (
      await fetch(`${store.url}/loki/api/v1/usage?since=24h`, { headers: tenant })
    ).text();
    expect(['pushes', 'lines', 'bytes', 'streams'].map(figure => total(answer, figure))).toEqual([
      run,
      run,
      100 * run,
      run,
    ]);
    const metrics = parseMetrics(await (await fetch(`${store.url}/metrics`)).text());
    // Metrics belong to the process, and restart with it.
    expect(metrics.value('loki_bytes_per_line_count', {})).toBe(1);
    expect(metrics.value('process_start_time_seconds', {})).toBeGreaterThan(0);
    await store.stop();
  }
});

test('functions count together: query reports the entries that push stored', async () => {
  const stores = { store: memoryObjectStore(), table: memoryTable({ clock: SYSTEM_CLOCK }) };
  const settings = { config: withinPlatform(configOf({})), warnings: [] };
  const call = (handler: ReturnType<typeof assemble>, given: Parameters<typeof httpApiEvent>[0]) =>
    handler(
      httpApiEvent({ timeEpoch: Date.now(), ...given, headers: { ...tenant, ...given?.headers } }),
      lambdaContext(),
    );
  const push = { method: 'POST', path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } };
  // Three processes with one request each: the first request of each is written immediately.
  for (const bytes of [10, 20, 30]) {
    const handler = assemble('push', settings, stores);
    expect(await call(handler, { ...push, body: pushBody('shop', bytes) })).toMatchObject({
      statusCode: 204,
    });
  }
  const usage = await call(assemble('query', settings, stores), {
    path: '/loki/api/v1/usage',
    query: 'since=24h',
  });
  expect(usage.statusCode).toBe(200);
  const answer = textOf(usage);
  expect(['pushes', 'lines', 'bytes'].map(figure => total(answer, figure))).toEqual([3, 3, 60]);
  const status = await call(assemble('status', settings, stores), { path: '/metrics' });
  expect(status.statusCode).toBe(200);
  expect(parseMetrics(textOf(status)).names('loki_build_info')).toHaveLength(1);
});

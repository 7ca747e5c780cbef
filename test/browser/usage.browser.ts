/** Usage, cost and limits of tenants as a person looks at them. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { eventually, untilFits, untilText, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop, SHOP_QUERY } from './support/shop.ts';

const ACME = { 'X-Scope-OrgID': 'acme' };
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(
    'auth_enabled: true\nlimits_config: { reject_old_samples: false, max_line_size: 4KB }\nlogboom: { currency: EUR }',
  );
  const { store } = explorer;
  const nowMs = Date.now();
  await pushShop(store, nowMs, ACME);
  const values: [string, string][] = [[`${BigInt(nowMs) * 1_000_000n}`, 'a line of globex']];
  await push(store, [{ stream: { app: 'web' }, values }], { 'X-Scope-OrgID': 'globex' });
  // Refused: longer than the limit.
  const long: [string, string][] = [[`${BigInt(nowMs) * 1_000_000n}`, 'x'.repeat(5000)]];
  await assert.rejects(push(store, [{ stream: { app: 'web' }, values: long }], ACME), /^Error: 400/);
  const params = new URLSearchParams({ query: SHOP_QUERY });
  await (await fetch(`${store.url}/svc/api/v1/query_range?${params}`, { headers: ACME })).text();
});
after(() => explorer.stop());

test('figures, cost and charts by day; the days as a table and as a file', async () => {
  const { page, done } = await explorer.open({ hash: '#/usage?tenant=acme' });
  await page.getByText('Tenant acme, by UTC day').waitFor();
  const figures = page.locator('.figures').first();
  await figures.getByText('3,420 lines').waitFor();
  await figures.getByText('1 line', { exact: true }).waitFor();
  await page.getByRole('img', { name: /Cost by day: €0\.\d+ in 30 days/ }).waitFor();
  await page.getByRole('img', { name: /Lines refused by day: 1 in 30 days/ }).waitFor();
  await page.getByRole('row', { name: new RegExp(new Date().toISOString().slice(0, 10)) }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const csv = await text(await (await download).createReadStream());
  assert.match(csv, /^day,lines,bytes,.*cost_EUR\n/);
  assert.equal(csv.trimEnd().split('\n').length, 31);
  await assertAccessible(page);
  await page.getByText('7 days', { exact: true }).click();
  await untilParam(page, 'days', '7');
  await page.getByRole('img', { name: /Bytes received by day: .* in 7 days/ }).waitFor();
  await done();
});

test('limits are found by a word, in dark', async () => {
  const { page, done } = await explorer.open({ hash: '#/usage?tenant=acme', colorScheme: 'dark' });
  const limits = page.getByRole('region', { name: 'Limits', exact: true });
  await limits.getByText('forever').waitFor();
  await page.getByRole('searchbox', { name: 'Search limits' }).fill('line size');
  await untilParam(page, 'find', 'line size');
  await limits.getByRole('row', { name: /^max_line_size 4KB/ }).waitFor();
  await page.getByRole('searchbox', { name: 'Search limits' }).fill('service name');
  await limits.getByText(/- k8s_job_name/).waitFor();
  await page.getByRole('searchbox', { name: 'Search limits' }).fill('');
  await assertAccessible(page);
  await done();
});

test('a month of use, light and dark', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere' });
  // Usage is counted by the day of arrival: no test has a month of it.
  await page.route('**/svc/api/v1/usage?*', route => route.fulfill({ json: monthOfUse(Date.now()) }));
  await page.goto(`${explorer.store.url}/ui/#/usage?tenant=acme`);
  const chart = page.getByRole('img', { name: /Cost by day: \$\d+\.\d\d in 30 days/ });
  await chart.waitFor();
  await eventually(
    () =>
      chart
        .locator('.day-stack')
        .evaluateAll(all =>
          all.map(one => [...one.children].reduce((sum, bar) => sum + bar.clientHeight, 0)),
        ),
    heights => {
      assert.equal(heights.length, 30);
      assert.ok(Math.min(...heights) > 20 && Math.max(...heights) <= 128, heights.join());
    },
  );
  await chart.locator('.day-column').nth(20).hover();
  const pointed = new Date(dayAt(Date.now(), 20)).getUTCDate();
  await untilText(chart.locator('.day-legend'), new RegExp(`\\b${pointed}Ingest \\$`));
  await screenshot(page, 'usage');
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertAccessible(page);
  await screenshot(page, 'usage-dark');
  await done();
});

test('tenants that were asked here stand side by side, and one is a click away', async () => {
  const { page, done } = await explorer.open({ hash: '#/usage?tenant=acme', viewport: PHONE });
  await page.evaluate(`localStorage.setItem('logboom.settings', '{"tenants":["globex","acme"]}')`);
  await page.reload();
  const tenants = page.getByRole('region', { name: 'Tenants', exact: true });
  await tenants.getByRole('row', { name: /acme/ }).waitFor();
  await untilTexts(tenants.locator('tbody td:first-child'), ['acme', 'globex']);
  await assertAccessible(page);
  await untilFits(page, PHONE.width, '.panel-page');
  await screenshot(page, 'usage-phone');
  await tenants.getByRole('link', { name: 'globex' }).click();
  await page.getByText('Tenant globex').waitFor();
  await page.locator('.figures').first().getByText('1 line', { exact: true }).waitFor();
  await done();
});

function dayAt(nowMs: number, index: number): number {
  return Math.floor(nowMs / MS_PER_DAY) * MS_PER_DAY - (29 - index) * MS_PER_DAY;
}

/** 30 days that end today, quieter at weekends. */
function monthOfUse(nowMs: number): object {
  const days = Array.from({ length: 30 }, (_, i) => {
    const date = new Date(dayAt(nowMs, i));
    const isWeekend = date.getUTCDay() % 6 === 0;
    const busy = (isWeekend ? 0.45 : 1) * (1 + 0.12 * Math.sin(i * 2.4) + i / 90);
    const bytes = Math.round(busy * 38e9);
    const cost = { ingest: busy * 1.9, storage: 0.2 + i * 0.012, queries: busy * 0.62 };
    const refused = {
      rate_limited: { lines: 48_200, bytes: 9e6 },
      line_too_long: { lines: 9312, bytes: 8e7 },
    };
    return {
      day: date.toISOString().slice(0, 10),
      pushes: Math.round(busy * 410_000),
      lines: Math.round(busy * 190e6),
      bytes,
      structured_metadata_bytes: Math.round(bytes * 0.14),
      streams: Math.round(busy * 820),
      refused: i % 9 === 4 ? refused : {},
      queries: Math.round(busy * 5200),
      query_bytes: Math.round(busy * 71e9),
      query_seconds: busy * 2900,
      stored_bytes: Math.round(60e9 + i * 4.1e9),
      cost: { ...cost, total: cost.ingest + cost.storage + cost.queries },
    };
  });
  return { status: 'success', data: { tenant: 'acme', currency: 'USD', stored_bytes_complete: true, days } };
}

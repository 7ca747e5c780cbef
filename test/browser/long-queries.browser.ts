/** Queries that take long: lines come from the newest on, progress is shown, and a query can be canceled. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { eventually, untilCount, untilText } from './support/eventually.ts';
import { assertAccessible, type Explorer, logsHash, screenshot, startExplorer } from './support/explorer.ts';
import { push } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  const nowMs = Date.now();
  const values = Array.from({ length: 48 }, (_, i) => {
    const ns = BigInt(nowMs - i * MS_PER_HOUR - 60_000) * 1_000_000n;
    return [`${ns}`, `hour ${i}`] as const;
  });
  await push(explorer.store, [{ stream: { service_name: 'slow' }, values: [...values] }]);
});
after(() => explorer.stop());

const HASH = logsHash('{service_name="slow"}', { from: 'now-2d' });
const LISTS = /query_range\?.*limit=/;

test('lines of the newest part are shown while older ones are searched; a canceled query continues later', async () => {
  const { page, done } = await explorer.open();
  let requests = 0;
  let holds = true;
  await page.route(LISTS, async handler => {
    if (++requests < 4 || !holds) await handler.continue();
  });
  await page.goto(`${explorer.store.url}/ui/${HASH}`);
  const share = page.getByText(/^3 of 4 parts · 25% of the time range · .* read$/);
  await share.waitFor();
  // A quarter of two days.
  await untilCount(page.locator('.log-line'), 12);
  await assertAccessible(page);
  await screenshot(page, 'progress');
  await page.getByRole('button', { name: 'Cancel query' }).click();
  await page.getByText('The query was canceled.').waitFor();
  await share.waitFor({ state: 'detached' });
  await untilCount(page.locator('.log-line'), 12);
  holds = false;
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('End of the time range.').waitFor();
  await page.getByText('48 lines', { exact: true }).waitFor();
  await eventually(
    () => page.locator('.log-text').allTextContents(),
    lines => {
      assert.ok(lines.length > 12);
      assert.deepEqual(
        lines,
        Array.from({ length: lines.length }, (_, i) => `hour ${i}`),
      );
    },
  );
  await done();
});

test('oldest first, the oldest part comes first, and Escape cancels', async () => {
  const { page, done } = await explorer.open();
  let requests = 0;
  await page.route(LISTS, async handler => {
    if (++requests < 4) await handler.continue();
  });
  await page.goto(`${explorer.store.url}/ui/${HASH}&order=oldest`);
  await page.getByText(/^3 of 4 parts · 25% of the time range/).waitFor();
  await untilText(page.locator('.log-text').first(), 'hour 47');
  const ended = page.waitForEvent('requestfailed', request => LISTS.test(request.url()));
  await page.keyboard.press('Escape');
  assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED');
  await page.getByText('The query was canceled.').waitFor();
  await done();
});

test('a metric query is canceled, and runs again', async () => {
  const { page, done } = await explorer.open();
  await page.route('**/svc/api/v1/query_range?*', () => {});
  await page.goto(
    `${explorer.store.url}/ui/${logsHash('count_over_time({service_name="slow"}[1h])', { from: 'now-2d' })}`,
  );
  await page.getByText('Computing').waitFor();
  await page.getByText(/^[23] s$/).waitFor();
  await page.getByRole('button', { name: 'Cancel query' }).click();
  await page.unroute('**/svc/api/v1/query_range?*');
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('region', { name: 'Query values' }).waitFor();
  await done();
});

test('values of the newest part are shown while older ones are computed', async () => {
  const { page, done } = await explorer.open();
  const ranges: number[][] = [];
  let holds = true;
  await page.route('**/svc/api/v1/query_range?*', async handler => {
    const { searchParams } = new URL(handler.request().url());
    ranges.push(['start', 'end'].map(name => Number(searchParams.get(name)) / 1e6));
    if (ranges.length < 3 || !holds) await handler.continue();
  });
  const query = 'sum by (service_name) (count_over_time({service_name="slow"}[1h]))';
  await page.goto(`${explorer.store.url}/ui/${logsHash(query, { from: 'now-2d' })}`);
  await page.getByText(/^2 of 3 parts · 50% of the time range · .* read$/).waitFor();
  await page.locator('.chart-plot canvas').waitFor();
  const total = page.locator('.series-table td').last();
  const read = async () => Number((await total.textContent())?.replaceAll(',', ''));
  const half = await eventually(read, count => assert.ok(count > 0, `${count}`));
  await assertAccessible(page);
  await screenshot(page, 'progress-values');
  await page.getByRole('button', { name: 'Cancel query' }).click();
  await page.getByText('The query was canceled.').waitFor();
  await untilCount(page.locator('.chart-plot canvas'), 1);
  holds = false;
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.locator('.metric:not([aria-busy=true])').waitFor();
  await page.getByText('The query was canceled.').waitFor({ state: 'detached' });
  await eventually(read, count => assert.ok(count > half * 1.8, `${count} after ${half}`));
  // Newest first, without an instant twice.
  const [newest, older] = ranges;
  assert.ok(older[1] < newest[0]);
  await done();
});

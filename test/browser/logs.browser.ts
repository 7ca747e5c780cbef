/** The log view as a person uses it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  eventually,
  untilCount,
  untilFits,
  untilStill,
  untilText,
  untilTexts,
  WAIT_MS,
} from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop, SHOP_QUERY } from './support/shop.ts';

const endMs = Date.now();
const ALL_IN_VIEW_ARE_DRAWN = `(() => {
  const [view, list, drawn] = ['.logs-scroll', '.virtual-list', '.virtual-window']
    .map(part => document.querySelector(part).getBoundingClientRect());
  return drawn.top <= Math.max(view.top, list.top) && drawn.bottom + 1 >= Math.min(view.bottom, list.bottom);
})()`;
/** One time for 1,200 lines, more than a page holds, and 5,000 after it. */
const MANY = 6200;
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, endMs);
  const values = Array.from({ length: MANY }, (_, i) => {
    const ms = endMs - 600_000 + Math.max(0, i - 1200);
    return [`${BigInt(ms) * 1_000_000n}`, `line ${i}`] as const;
  });
  await push(explorer.store, [{ stream: { service_name: 'many' }, values: [...values] }]);
});
after(() => explorer.stop());

test('without a query it shows the services, and a click asks for the lines of one', async () => {
  const { page, done } = await explorer.open();
  await page.getByRole('button', { name: 'gateway' }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'start');
  await page.getByRole('button', { name: 'payment' }).click();
  await untilParam(page, 'q', '{service_name="payment"}');
  await page.getByText('900 lines').first().waitFor();
  await page.goBack();
  await page.getByText('Recent queries').waitFor();
  await done();
});

test('lines, histogram and figures of a query; colors and marks', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash(`${SHOP_QUERY} |= "sent receipt" or "charged"`),
  });
  await page.getByRole('img', { name: /Lines by level over time: .*info \d+/ }).waitFor();
  await page.locator('.chart canvas').waitFor();
  // The histogram can be there before the list is.
  for (const text of ['sent receipt', 'charged']) {
    await page.locator('.log-text mark', { hasText: text }).first().waitFor();
  }
  await page.locator('.log-text .ansi-2.ansi-bold, .log-text .ansi-3.ansi-bold').first().waitFor();
  await eventually(
    () => page.locator('.log-list').textContent(),
    text => assert.ok(text !== null && text !== '' && !text.includes('\u001b')),
  );
  await page.goto(`${explorer.store.url}/ui/${logsHash(SHOP_QUERY)}`);
  await page.getByText('1,000 of 3,420 lines').waitFor();
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'logs');
  await done();
});

test('a level in the histogram filters by it', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.getByRole('button', { name: /^error/ }).click();
  await untilParam(page, 'q', `${SHOP_QUERY} | detected_level="error"`);
  await page.getByRole('button', { name: /^info/ }).waitFor({ state: 'detached' });
  await eventually(
    () => page.locator('.log-level').evaluateAll(all => all.map(one => one.getAttribute('title'))),
    levels => assert.deepEqual([...new Set(levels)], ['error']),
  );
  await done();
});

test('a drag over the histogram zooms; wider goes back out', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  const box = await untilStill(page.locator('.chart .u-over'));
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(({ hash }) => hash.includes('from=1'));
  const params = new URLSearchParams(page.url().split('?')[1]);
  const width = Number(params.get('to')) - Number(params.get('from'));
  assert.ok(Math.abs(width - 900_000) < 60_000, `${width}`);
  await page.getByRole('button', { name: 'Wider' }).click();
  await page.waitForURL(({ hash }) => !hash.includes(`from=${params.get('from')}`));
  await page.goBack();
  await page.waitForURL(({ hash }) => hash.includes(`from=${params.get('from')}`));
  await done();
});

test('details: JSON, fields, filters in and out, copy', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('{service_name="checkout"} |= "declined"'),
    colorScheme: 'dark',
  });
  await page.locator('.log-line').nth(1).click();
  const details = page.getByRole('region', { name: 'Line details' });
  await details.getByText('"card_declined"').waitFor();
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'details-dark');
  await details.getByRole('button', { name: 'Copy line' }).click();
  await details.getByRole('button', { name: 'Copied' }).waitFor();
  await eventually(
    () => page.evaluate('navigator.clipboard.readText()') as Promise<string>,
    copied => assert.equal(JSON.parse(copied).msg, 'payment declined'),
  );
  await details.getByRole('button', { name: 'Only lines with error_code = card_declined' }).click();
  await untilParam(page, 'q', '{service_name="checkout"} |= "declined" | json | error_code="card_declined"');
  await page.locator('.log-line').first().click();
  await details.getByRole('button', { name: 'Only lines without region = eu-central-1' }).click();
  await untilParam(
    page,
    'q',
    '{service_name="checkout", region!="eu-central-1"} |= "declined" | json | error_code="card_declined"',
  );
  await page.locator('.log-line').first().click();
  await untilCount(details.getByText('us-east-1'), 1);
  await details.getByText('Parsed by the query').waitFor();
  await done();
});

test('the context of a line: what is around it in its stream', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="many"} |= "line 3000"') });
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: 'Show context' }).click();
  const sheet = page.getByRole('dialog', { name: 'Line context' });
  await sheet.getByText('line 3001', { exact: true }).waitFor();
  const lines = sheet.locator('.log-text');
  const expected = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`);
  await untilTexts(lines, expected(2970, 3030));
  await screenshot(page, 'context');
  await assertAccessible(page);
  await sheet.getByRole('button', { name: 'Load later lines' }).click();
  await sheet.getByText('line 3060', { exact: true }).waitFor();
  await untilTexts(lines, expected(2970, 3060));
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await done();
});

test('6,200 lines come page by page while a user scrolls, each once, and few are drawn', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('{service_name="many"}', { order: 'oldest' }),
  });
  await page.getByText('line 0', { exact: true }).waitFor();
  const seen = new Set<string>();
  const deadline = Date.now() + 5 * WAIT_MS;
  while (!seen.has(`line ${MANY - 1}`) && Date.now() < deadline) {
    for (const text of await page.locator('.log-text').allTextContents()) seen.add(text);
    await page.locator('.logs-scroll').evaluate(element => {
      // Less than the height of the list: rows that were never in view need not be drawn.
      element.scrollTop += 600;
    });
    await eventually(
      () => page.evaluate(ALL_IN_VIEW_ARE_DRAWN),
      drawn => assert.equal(drawn, true),
    );
  }
  assert.equal(seen.size, MANY);
  await eventually(
    () => page.locator('.log-line').count(),
    count => assert.ok(count > 0 && count < 120, `${count}`),
  );
  await page.getByText('6,200 lines', { exact: true }).waitFor();
  await page.getByText('End of the time range.').waitFor();
  await done();
});

test('keys: order, wrap, next line, its details', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="many"}') });
  await page.getByText('line 6199').waitFor();
  await page.keyboard.press('o');
  await untilParam(page, 'order', 'oldest');
  await page.getByText('line 0', { exact: true }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const open = page.locator('.log-line.open');
  await open.waitFor();
  await untilText(open, /line 1$/);
  await page.keyboard.press('w');
  await page.locator('.log-line.wraps').first().waitFor();
  await done();
});

test('the time picker: quick, typed, in UTC, and what is wrong', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('t');
  const panel = page.getByRole('region', { name: 'Time range' });
  await panel.waitFor();
  await assertAccessible(page);
  await screenshot(page, 'time-picker');
  await panel.getByRole('button', { name: 'Last 15 minutes' }).click();
  await untilParam(page, 'from', 'now-15m');
  await panel.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Last 15 minutes' }).click();
  await panel.getByLabel('From').fill('yesterday');
  await panel.getByRole('alert').waitFor();
  await panel.getByRole('button', { name: 'Apply range', disabled: true }).waitFor();
  await panel.getByText('UTC').click();
  await panel.getByLabel('From').fill('2026-02-03 04:05:06');
  await panel.getByLabel('To', { exact: true }).fill('2026-02-03 05:00');
  await page.keyboard.press('Enter');
  await untilParam(page, 'from', String(Date.UTC(2026, 1, 3, 4, 5, 6)));
  await page.getByRole('button', { name: '2026-02-03 04:05:06 → 05:00:00' }).waitFor();
  await page.getByText('No matching lines in this time range').waitFor();
  await screenshot(page, 'no-lines');
  await done();
});

test('values as lines, bars and a table; the address keeps which', async () => {
  const query = 'sum by (service_name) (rate({namespace="shop"}[$__auto]))';
  const { page, done } = await explorer.open({ hash: logsHash(query) });
  await page.getByRole('img', { name: /Values of 4 series/ }).waitFor();
  await page.locator('.chart canvas').waitFor();
  await assertAccessible(page);
  await page.locator('.u-over').hover();
  await screenshot(page, 'metric-lines');
  await page.getByText('Bars').click();
  await untilParam(page, 'chart', 'bars');
  await page.locator('.chart-plot.bars canvas').waitFor();
  await screenshot(page, 'metric-bars');
  await page.getByRole('button', { name: 'gateway' }).click();
  await page.getByRole('button', { name: 'gateway', pressed: true }).waitFor();
  await page.getByText('Table').click();
  await page.getByRole('columnheader', { name: 'service_name' }).waitFor();
  await untilCount(page.getByRole('row'), 5);
  await page.reload();
  await page.getByRole('columnheader', { name: 'service_name' }).waitFor();
  await done();
});

test('at phone width: lines, details and the time fit', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY), viewport: PHONE });
  await page.locator('.log-line').first().waitFor();
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await screenshot(page, 'phone');
  await page.locator('.log-line').nth(1).click();
  await page.getByRole('region', { name: 'Line details' }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'phone-details');
  await page.getByRole('button', { name: 'Last hour' }).click();
  await page.getByRole('region', { name: 'Time range' }).waitFor();
  await screenshot(page, 'phone-time');
  await untilFits(page, PHONE.width);
  await done();
});

test('bars that the range cuts count the lines that the list has', async () => {
  const stepMs = 5 * 60_000;
  const from = endMs - 7 * 3_600_000 + 1234;
  // Before the range, at its beginning, where its first bar ends, inside, at its end, behind it.
  const to = from + 2 * 3_600_000 + 777;
  const values = [
    from - 1,
    from,
    Math.floor(from / stepMs) * stepMs + stepMs,
    from + 3_600_000,
    to - 1,
    to,
  ].map((ms, i) => [`${BigInt(ms) * 1_000_000n}`, `edge ${i}`] as [string, string]);
  await push(explorer.store, [{ stream: { service_name: 'edges' }, values }]);
  const { page, done } = await explorer.open({
    hash: logsHash('{service_name="edges"}', { from: `${from}`, to: `${to}` }),
  });
  await page.getByText('4 lines', { exact: true }).waitFor();
  await page.getByRole('img', { name: /Lines by level over time: unknown 4$/ }).waitFor();
  await done();
});

test('plus on a number of a line compares numbers; minus keeps lines without the field', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="checkout"} |= "declined"') });
  await page.locator('.log-line').first().click();
  const details = page.getByRole('region', { name: 'Line details' });
  await details.getByRole('button', { name: 'Only lines with duration_ms = 1840' }).click();
  await untilParam(page, 'q', '{service_name="checkout"} |= "declined" | json | duration_ms=1840');
  await page.locator('.log-line').first().click();
  await details.getByRole('button', { name: 'Only lines without duration_ms = 1840' }).click();
  await untilParam(page, 'q', '{service_name="checkout"} |= "declined" | json | duration_ms!="1840"');
  await done();
});

test('the context of a line takes the whole width', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('{service_name="gateway"}'),
    viewport: { width: 1920, height: 1080 },
  });
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: 'Show context' }).click();
  const list = page.locator('.context-lines');
  await list.locator('li').nth(5).waitFor();
  const { width } = await untilStill(list);
  assert.ok(width > 1920 * 0.95, `${width}`);
  await screenshot(page, 'context-wide');
  await done();
});

test('the context of a JSON line has messages first, and raw lines if the list has', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="checkout"} |= "declined"') });
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: 'Show context' }).click();
  const target = page.locator('.context-lines .target .log-text');
  await target.getByText('payment declined').waitFor();
  await untilText(target, /^payment declined order=\d+ /);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Raw lines' }).click();
  await page.getByRole('button', { name: 'Show context' }).click();
  await target.getByText('{"level":"error","msg":"payment').waitFor();
  await done();
});

test('the names of the columns stay while the list scrolls', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.locator('.log-line').first().waitFor();
  await page.locator('.logs-scroll').evaluate(element => {
    element.scrollTop = 5000;
  });
  const heads = page.locator('.column-heads');
  const tools = page.locator('.list-tools');
  await eventually(
    async () => [await heads.boundingBox(), await tools.boundingBox()],
    ([head, tool]) => {
      assert.ok(head !== null && tool !== null);
      assert.ok(Math.abs(head.y - (tool.y + tool.height)) < 2, JSON.stringify([head, tool]));
    },
  );
  await screenshot(page, 'column-names');
  await done();
});

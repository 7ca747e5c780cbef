/** Download of a result: loaded lines or all of them, in three formats. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, type Explorer, logsHash, screenshot, startExplorer } from './support/explorer.ts';
import { push } from './support/shop.ts';

/** More than two parts of an export. */
const LINES = 9000;
const PADDING = 'x'.repeat(600);
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  const nowMs = Date.now();
  const values = Array.from({ length: LINES }, (_, i) => {
    // Some share a millisecond, none the whole nanosecond.
    const ns = BigInt(nowMs - 1000 - Math.floor(i / 3)) * 1_000_000n + BigInt(i % 3);
    return [`${ns}`, `line ${i}, "quoted" ${PADDING}`] as const;
  });
  await push(explorer.store, [{ stream: { service_name: 'many' }, values: [...values] }]);
});
after(() => explorer.stop());

const HASH = logsHash('{service_name="many"}');

async function saved(page: Page): Promise<{ readonly name: string; readonly text: string }> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const file = await download;
  return { name: file.suggestedFilename(), text: await text(await file.createReadStream()) };
}

async function openMenu(page: Page) {
  await page.locator('.log-line').first().waitFor();
  await page.getByRole('button', { name: 'Download lines' }).click();
  return page.getByRole('region', { name: 'Download' });
}

test('the whole result is saved, not only what is loaded, in each format', async () => {
  const { page, done } = await explorer.open({ hash: HASH });
  const menu = await openMenu(page);
  await menu.getByText('All 9,000').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'export');
  const jsonl = await saved(page);
  assert.equal(jsonl.name, 'logs.jsonl');
  const entries = jsonl.text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  assert.equal(entries.length, LINES);
  assert.equal(new Set(entries.map(({ line }) => line)).size, LINES);
  const times = entries.map(({ timestamp }) => timestamp);
  assert.deepEqual(times, times.toSorted());

  await menu.getByText('CSV', { exact: true }).click();
  const csv = await saved(page);
  assert.equal(csv.name, 'logs.csv');
  assert.equal(csv.text.trimEnd().split('\n').length, LINES + 1);
  assert.match(csv.text, /"line 0, ""quoted"" x+"/);
  assert.deepEqual(/^timestamp,level,line,.*\n([^,]+)/.exec(csv.text)?.[1], times[0]);

  await menu.getByText('Text', { exact: true }).click();
  await menu.getByText('Loaded 1,000').click();
  const plain = await saved(page);
  assert.deepEqual([plain.name, plain.text.trimEnd().split('\n').length], ['logs.txt', 1000]);
  await done();
});

test('progress is shown, and a canceled download saves nothing and asks no more', async () => {
  const { page, done } = await explorer.open({ hash: HASH });
  const menu = await openMenu(page);
  await menu.getByText('All 9,000').waitFor();
  let requests = 0;
  // The second part never comes.
  await page.route('**/svc/api/v1/export?*', async handler => {
    if (++requests < 2) await handler.continue();
  });
  let downloads = 0;
  page.on('download', () => downloads++);
  await menu.getByRole('button', { name: 'Save', exact: true }).click();
  await menu.getByText(/^[34],\d+ of 9,000 lines · [\d.]+ MB$/).waitFor();
  await screenshot(page, 'export-progress');
  await menu.getByRole('button', { name: 'Cancel' }).click();
  await menu.getByRole('button', { name: 'Save', exact: true }).waitFor();
  assert.deepEqual([requests, downloads], [2, 0]);
  await done();
});

test('shows an error of the store, and saves all lines on retry', async () => {
  const { page, done } = await explorer.open({ hash: HASH, expects: /status of 503/ });
  const menu = await openMenu(page);
  await page.route('**/svc/api/v1/export?*', handler =>
    handler.fulfill({ status: 503, body: 'too many queries' }),
  );
  await menu.getByRole('button', { name: 'Save', exact: true }).click();
  await menu.getByText('too many queries').waitFor();
  await page.unroute('**/svc/api/v1/export?*');
  assert.equal((await saved(page)).text.trimEnd().split('\n').length, LINES);
  await done();
});

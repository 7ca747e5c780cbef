/** Search in plain words, the services that are searched, and help with mistakes in LogQL. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, untilFits, untilStill, untilText } from './support/eventually.ts';
import {
  assertAccessible,
  DESKTOP,
  type Explorer,
  logsHash,
  openEditor,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop } from './support/shop.ts';

const YAML = `auth_enabled: false
limits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true }
pattern_ingester: { enabled: true }
`;
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(YAML);
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

const REFUSED = /status of 400/;

async function type(page: Page, text: string): Promise<void> {
  await openEditor(page);
  await page.keyboard.press('Control+A');
  // Chromium styles a text that replaces a highlighted one, which the policy of the page refuses.
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

/** Waits until the lines that are shown are of exactly these services. */
async function untilServices(page: Page, services: readonly string[]): Promise<void> {
  await eventually(
    () => page.locator('.log-cell').allTextContents(),
    cells => assert.deepEqual([...new Set(cells.map(text => text.trim()))].sort(), services),
  );
}

test('words search all services, and Enter runs them', async () => {
  const { page, done } = await explorer.open();
  await type(page, 'PAYMENT -"timed out" OR declined');
  const reading = page.getByRole('region', { name: 'How plain words are searched' });
  await untilText(
    reading.locator('code'),
    '{service_name=~".+"} |~ "(?i)PAYMENT" != "timed out" |~ "(?i)declined"',
  );
  await type(page, 'declined OR CHARGED');
  await page.keyboard.press('Enter');
  await untilParam(page, 'q', 'declined OR CHARGED');
  await untilServices(page, ['checkout', 'payment']);
  for (const text of ['charged', 'declined']) {
    await page.locator('.log-text mark', { hasText: text }).first().waitFor();
  }
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'words');
  await done();
});

test('the services to search are chosen, kept in the address, and used by other views', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('receipt OR charged') });
  const reading = page.getByRole('region', { name: 'How plain words are searched' });
  await reading.getByRole('button', { name: 'All services' }).click();
  const panel = page.getByRole('region', { name: 'Services to search' });
  await panel.getByRole('checkbox', { name: 'worker' }).check();
  await untilParam(page, 'scope', '{service_name="worker"}');
  await panel.getByRole('checkbox', { name: 'gateway' }).check();
  await untilParam(page, 'scope', '{service_name=~"worker|gateway"}');
  await assertAccessible(page);
  await screenshot(page, 'words-scope');
  await page.keyboard.press('Escape');
  await page.getByText('270 lines').first().waitFor();
  await untilText(reading.locator('code'), '{service_name=~"worker|gateway"} |~ "(?i)receipt|charged"');
  await page.getByRole('link', { name: 'Patterns' }).click();
  await page.getByText('sent receipt').first().waitFor();
  await page.getByRole('link', { name: 'Explain', exact: true }).first().click();
  await page.getByText('270', { exact: false }).first().waitFor();
  await page.goBack();
  await page.goBack();
  await reading.getByRole('button', { name: 'worker, gateway' }).click();
  await panel.getByRole('button', { name: 'Search all services' }).click();
  await untilParam(page, 'scope', null);
  await done();
});

test('the LogQL of words can be edited, and a click on a value extends it', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('declined') });
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: /^Only lines with region = eu-central-1/ }).click();
  await untilParam(page, 'q', '{service_name=~".+", region="eu-central-1"} |~ "(?i)declined"');
  await page.goBack();
  await untilParam(page, 'q', 'declined');
  await page.getByRole('button', { name: 'Edit LogQL' }).click();
  await page.getByRole('region', { name: 'How plain words are searched' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(' | json');
  await page.keyboard.press('Control+Enter');
  await untilParam(page, 'q', '{service_name=~".+"} |~ "(?i)declined" | json');
  await page.locator('.log-line').first().waitFor();
  await done();
});

test('a number alone is LogQL, and is offered as a text', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('502') });
  await page.getByRole('button', { name: 'Search for the text 502' }).click();
  await untilParam(page, 'q', '"502"');
  await page.locator('.log-text mark', { hasText: '502' }).first().waitFor();
  await done();
});

test('a mistake in LogQL is explained, and a click runs what is meant', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('{service_name="checkout"} | jsno'),
    expects: REFUSED,
  });
  await page.getByText('“jsno” is not a stage. Did you mean “json”?').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'mistake');
  await page.getByRole('button', { name: 'Run {service_name="checkout"} | json' }).click();
  await untilParam(page, 'q', '{service_name="checkout"} | json');
  await page.locator('.log-line').first().waitFor();
  await untilText(page.getByRole('textbox', { name: 'LogQL query' }), '{service_name="checkout"} | json');
  await page.goto(`${explorer.store.url}/ui/${logsHash('summ(rate({service_name="checkout"}[5m]))')}`);
  await page.getByRole('button', { name: 'Run sum(rate({service_name="checkout"}[5m]))' }).click();
  await page.getByRole('region', { name: 'Query values' }).waitFor();
  await page.goto(
    `${explorer.store.url}/ui/#/explain?${new URLSearchParams({ q: '{service_name=checkout}' })}`,
  );
  await page.getByRole('button', { name: 'Run {service_name="checkout"}' }).click();
  await untilParam(page, 'q', '{service_name="checkout"}');
  await done();
});

test('patterns, tail and explain offer services', async () => {
  const { page, done } = await explorer.open({ hash: '#/patterns' });
  for (const view of ['patterns', 'tail', 'explain']) {
    await page.goto(`${explorer.store.url}/ui/#/${view}`);
    await page.getByRole('button', { name: 'gateway' }).waitFor();
    await assertAccessible(page);
    await screenshot(page, `${view}-services`);
    await page.getByRole('button', { name: 'gateway' }).click();
    await untilParam(page, 'q', '{service_name="gateway"}');
    // A connection that is left before it is open is an error in the browser's console.
    if (view === 'tail') await page.getByText('Live', { exact: true }).waitFor();
  }
  await done();
});

for (const [name, viewport, colorScheme] of [
  ['words-phone', PHONE, 'dark'],
  ['words-dark', DESKTOP, 'dark'],
] as const) {
  test(`words at ${viewport.width} pixels in ${colorScheme} colors`, async () => {
    const { page, done } = await explorer.open({ hash: logsHash('declined'), viewport, colorScheme });
    await page.locator('.log-line').first().waitFor();
    await page.getByRole('button', { name: 'All services' }).click();
    await page.getByRole('checkbox', { name: 'worker' }).waitFor();
    const box = await untilStill(page.getByRole('region', { name: 'Services to search' }));
    assert.ok(box.x >= 0 && box.x + box.width <= viewport.width, JSON.stringify(box));
    await page.locator('.volume-chart:not(.stale) canvas').waitFor();
    await assertAccessible(page);
    await screenshot(page, name);
    await untilFits(page, viewport.width);
    await done();
  });
}

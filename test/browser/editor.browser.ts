/** The editor of the log view: completion, mistakes, running a query. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, untilText, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  openEditor,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

/** CodeMirror ignores keys for 75 ms after its list opened, so that none is taken by mistake. */
const KEYS_AFTER_MS = 100;

/** The editor shows a message when the pointer has been still for 300 ms. */
const HOVER_MS = 500;
const MAX_HOVERS = 40;

/** Waits until the list offers exactly this, and takes keys. */
async function untilOffers(page: Page, labels: readonly string[]): Promise<void> {
  await untilTexts(page.locator('.cm-tooltip-autocomplete li .cm-completionLabel'), labels);
  await page.waitForTimeout(KEYS_AFTER_MS);
}

test('labels, values and fields are offered while a query is written, and Ctrl and Enter runs it', async () => {
  const { page, done } = await explorer.open();
  await page.keyboard.press('/');
  const editor = await openEditor(page);
  await page.keyboard.type('{');
  await untilOffers(page, ['namespace', 'region', 'service_name']);
  await page.keyboard.type('serv');
  await untilOffers(page, ['service_name']);
  await page.keyboard.press('Tab');
  await untilOffers(page, ['checkout', 'gateway', 'payment', 'worker']);
  await assertAccessible(page);
  await screenshot(page, 'completion');
  await page.keyboard.press('Tab');
  await untilText(editor, '{service_name="checkout"}');
  await page.keyboard.press('End');
  await page.keyboard.type(' | json | dur');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'duration_ms' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.type('ation_ms > 1000');
  await page.keyboard.press('Control+Enter');
  await untilParam(page, 'q', '{service_name="checkout"} | json | duration_ms > 1000');
  await page.locator('.log-line').first().waitFor();
  await done();
});

test('functions are offered where an expression begins', async () => {
  const { page, done } = await explorer.open();
  const editor = await openEditor(page);
  await page.keyboard.type('count_ov');
  await untilOffers(page, ['count_over_time']);
  await page.keyboard.press('Tab');
  await untilText(editor, 'count_over_time([$__auto])');
  await done();
});

test('a mistake is explained and underlined', async () => {
  const query = '{service_name="checkout"} | json | level == = "error"';
  const { page, done } = await explorer.open({ hash: logsHash(query), expects: /status of 400/ });
  await page.locator('.query-editor[data-ready=true]').waitFor();
  await page
    .getByRole('alert')
    .getByText(/parse error at line 1, col \d+/)
    .waitFor();
  // The mark is drawn again with each message, and a new one knows of no pointer.
  const tip = page.locator('.cm-tooltip-lint');
  for (let tries = 0; tries < MAX_HOVERS && !(await tip.isVisible()); tries++) {
    await page.locator('.cm-lintRange-error').hover({ position: { x: 2 + (tries % 2), y: 6 } });
    await page.waitForTimeout(HOVER_MS);
  }
  await tip.waitFor();
  await assertAccessible(page);
  await screenshot(page, 'mistake');
  await done();
});

test('the editor loads when it is used, and takes over text and cursor; until then a query has its colors', async () => {
  const query = '{service_name="checkout"} | json';
  const { page, done } = await explorer.open({ hash: logsHash(query) });
  const loaded: string[] = [];
  page.on('request', request => loaded.push(request.url()));
  await page.locator('.log-line').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('.query-colors .ql-keyword', { hasText: 'json' }).waitFor();
  const area = page.locator('textarea.query-area');
  // The colored text is where the plain one is.
  await eventually(
    async () => [await area.boundingBox(), await page.locator('.query-colors').boundingBox()],
    ([plain, colored]) => assert.deepEqual(colored, plain),
  );
  await screenshot(page, 'query-colors');
  assert.deepEqual(
    loaded.filter(url => url.includes('code-editor')),
    [],
  );
  await page.route('**/code-editor-*.js', async handler => {
    await area.press('Home');
    await area.press('ArrowRight');
    await page.keyboard.type('region="us-east-1",');
    await handler.continue();
  });
  const editor = await openEditor(page);
  await page.keyboard.type(' namespace="shop",');
  await untilText(editor, '{region="us-east-1", namespace="shop",service_name="checkout"} | json');
  await page.locator('.query-colors').waitFor({ state: 'detached' });
  await done();
});

/** Types into the text area in the moment in which it is drawn, before any effect of its component has run. */
const TYPES_AT_ONCE = `new MutationObserver((_, observer) => {
  const area = document.querySelector('textarea.query-area');
  if (area === null) return;
  observer.disconnect();
  area.value = '{service_name="worker"}';
  area.dispatchEvent(new InputEvent('input', { bubbles: true }));
}).observe(document, { childList: true, subtree: true })`;

test('a query that is typed as soon as the text area is there stays', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere' });
  await page.evaluate(TYPES_AT_ONCE);
  await page.goto(`${explorer.store.url}/ui/#/logs`);
  await page.getByRole('button', { name: 'gateway' }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await untilParam(page, 'q', '{service_name="worker"}');
  await done();
});

test('the text area works before the editor is there', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere' });
  await page.route('**/code-editor-*.js', () => {});
  await page.goto(`${explorer.store.url}/ui/#/logs`);
  const area = page.locator('textarea.query-area');
  await area.fill('{service_name="worker"}');
  await area.press('Control+Enter');
  await untilParam(page, 'q', '{service_name="worker"}');
  await page.getByText('270 lines').first().waitFor();
  await done();
});

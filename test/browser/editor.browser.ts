/** The editor of the log view: completion, mistakes, running a query. */
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { untilText, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
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

async function editorOf(page: Page) {
  await page.locator('.query-editor[data-ready=true]').waitFor();
  return page.getByRole('textbox', { name: 'LogQL query' });
}

/** CodeMirror leaves out keys for 75 ms after its list opened, so that none is taken by mistake. */
const KEYS_AFTER_MS = 100;

/** Waits until the list offers exactly this, and takes keys. */
async function untilOffers(page: Page, labels: readonly string[]): Promise<void> {
  await untilTexts(page.locator('.cm-tooltip-autocomplete li .cm-completionLabel'), labels);
  await page.waitForTimeout(KEYS_AFTER_MS);
}

test('labels, values and fields are offered while a query is written, and Ctrl and Enter runs it', async () => {
  const { page, done } = await explorer.open();
  const editor = await editorOf(page);
  await page.keyboard.press('/');
  await page.keyboard.type('{');
  await untilOffers(page, ['namespace', 'region', 'service_name']);
  await page.keyboard.type('serv');
  await page.locator('.cm-tooltip-autocomplete li[aria-selected]', { hasText: 'service_name' }).waitFor();
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
  await editorOf(page);
  await page.keyboard.press('/');
  await page.keyboard.type('count_ov');
  await untilOffers(page, ['count_over_time']);
  await page.keyboard.press('Tab');
  await untilText(await editorOf(page), 'count_over_time([$__auto])');
  await done();
});

test('a mistake is told and underlined where it is', async () => {
  const query = '{service_name="checkout"} | json | level == = "error"';
  const { page, done } = await explorer.open({ hash: logsHash(query), expects: /status of 400/ });
  await editorOf(page);
  await page
    .getByRole('alert')
    .getByText(/parse error at line 1, col \d+/)
    .waitFor();
  await page.locator('.cm-lintRange-error').waitFor();
  await page.locator('.cm-lintRange-error').hover();
  await page.locator('.cm-tooltip-lint').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'mistake');
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

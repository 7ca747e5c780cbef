/**
 * Texts with which clients may attack readers: markup, escape sequences of terminals, control characters, and
 * characters that change the direction of text. Every view shows them as plain text. The test reads texts as
 * the browser has them, including shadow trees and visible attributes.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { untilCount } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  openEditor,
  screenshot,
  startExplorer,
} from './support/explorer.ts';
import { push } from './support/shop.ts';

const YAML = `auth_enabled: false
limits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true }
pattern_ingester: { enabled: true }
`;
const HOSTILE =
  '<img src=x onerror=alert(1)>\u001b[2J\u001b]0;owned\u0007\u009b1m\u202egnp.exe\u2066\u2028end';
const SHOWN =
  '<img src=x onerror=alert(1)>\\x1b[2J\\x1b]0;owned\\x07\\u009b1m\\u202egnp.exe\\u2066\\u2028end';
/** As `JSON.stringify` and LogQL write it. */
const QUOTED = SHOWN.replaceAll('\\x', '\\u00');
const SELECTOR = `{service_name=${JSON.stringify(HOSTILE)}}`;
const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u;
/** Every text that is shown, and what markup would have made. */
const READ = `(() => {
  const texts = [];
  const injected = [];
  const walk = root => {
    for (const element of root.querySelectorAll('*')) {
      if (['STYLE', 'SCRIPT'].includes(element.tagName)) continue;
      if (element.matches('img[src], iframe, object, embed')) injected.push(element.outerHTML);
      for (const { name, value } of element.attributes) {
        if (['title', 'aria-label', 'placeholder', 'alt'].includes(name)) texts.push(value);
        if (name.startsWith('on')) injected.push(element.outerHTML);
      }
      for (const child of element.childNodes) if (child.nodeType === 3) texts.push(child.data);
      if (element.shadowRoot !== null) walk(element.shadowRoot);
    }
  };
  walk(document);
  return { texts, injected };
})()`;

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(YAML);
  const nowMs = Date.now();
  const at = (i: number) => `${BigInt(nowMs - 60_000 + i) * 1_000_000n}`;
  const metadata = { trace: HOSTILE };
  const lines = Array.from({ length: 40 }, (_, i) => [at(i), `${HOSTILE} took ${i} ms`, metadata] as const);
  await push(explorer.store, [
    {
      stream: { service_name: HOSTILE, pod: HOSTILE },
      values: [...lines, [at(50), JSON.stringify({ msg: HOSTILE, [HOSTILE]: HOSTILE }), metadata]],
    },
  ]);
  const rules = JSON.stringify({
    name: HOSTILE,
    interval: '1s',
    rules: [
      {
        alert: HOSTILE,
        expr: `count_over_time(${SELECTOR}[1h]) > 0`,
        labels: { a: HOSTILE },
        annotations: { summary: HOSTILE, run_url: `javascript:alert(1)//${HOSTILE}` },
      },
    ],
  });
  const path = `/svc/api/v1/rules/${encodeURIComponent(HOSTILE)}`;
  const made = await fetch(explorer.store.url + path, { method: 'POST', body: rules });
  assert.equal(made.status, 202, await made.text());
  const params = new URLSearchParams({
    query: `${SELECTOR} |= "never said"`,
    start: '1000000000',
    end: '1000000100',
  });
  const deleted = await fetch(`${explorer.store.url}/svc/api/v1/delete?${params}`, { method: 'POST' });
  assert.equal(deleted.status, 204, await deleted.text());
});
after(() => explorer.stop());

/** Waits for what was written to be seen as text, in one of its forms, and reads the whole page. */
async function assertPlain(page: Page, name: string, shown = SHOWN): Promise<void> {
  await page.getByText(shown, { exact: false }).first().waitFor();
  const { texts, injected } = (await page.evaluate(READ)) as { texts: string[]; injected: string[] };
  assert.deepEqual(injected, [], name);
  assert.deepEqual(
    texts.filter(text => OBEYED.test(text)),
    [],
    name,
  );
  await screenshot(page, `hostile-${name}`);
}

test('the start page, lines with their details, and their context', async () => {
  const { page, done } = await explorer.open({ hash: '#/logs', expects: /status of 400/ });
  await page.locator('.service-name').first().waitFor();
  await assertPlain(page, 'start');
  await page.goto(`${explorer.store.url}/ui/${logsHash(`${SELECTOR} | json`)}`);
  await page.locator('.log-line').first().waitFor();
  await assertPlain(page, 'logs');
  await page.locator('.log-toggle').first().click();
  await page.getByRole('region', { name: 'Line details' }).waitFor();
  await page.locator('.json-string').first().waitFor();
  await assertPlain(page, 'details');
  await page.getByRole('button', { name: 'Show context' }).click();
  await page.locator('.context-lines li').nth(5).waitFor();
  await assertPlain(page, 'context');
  await done();
});

test('no colors of a line hide its text, light or dark', async () => {
  const own = (r: number) => `${r};${r};${r}`;
  const lines = [
    ...['30;40', '37;47', '97;107', '90;100', '31;101', '34;104'],
    ...[0, 128, 255].flatMap(a => [0, 128, 255].map(b => `38;2;${own(a)};48;2;${own(b)}`)),
    ...[0, 128, 255].flatMap(a => [
      `38;2;${own(a)}`,
      `38;2;${own(a)};47`,
      `30;48;2;${own(a)}`,
      `97;48;2;${own(a)}`,
    ]),
    '38;2;255;255;0;48;2;255;255;0',
    '38;2;0;0;255;48;2;0;0;255',
  ].map(codes => `\u001b[${codes}mtext in ${codes}\u001b[0m`);
  const ns = `${BigInt(Date.now() - 30_000) * 1_000_000n}`;
  await push(explorer.store, [
    { stream: { service_name: 'colors' }, values: lines.map(line => [ns, line] as const) },
  ]);
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, done } = await explorer.open({ hash: logsHash('{service_name="colors"}'), colorScheme });
    await page.getByText('text in 38;2;0;0;255').first().waitFor();
    await screenshot(page, `colors-${colorScheme}`);
    await assertAccessible(page);
    await done();
  }
});

test('a metric: the table of its series and the tip of its chart', async () => {
  const query = `sum by (service_name, trace) (count_over_time(${SELECTOR}[1m]))`;
  const { page, done } = await explorer.open({ hash: logsHash(query) });
  const chart = page.getByRole('img', { name: /Values of/ });
  await chart.waitFor();
  await assertPlain(page, 'metric', QUOTED);
  await done();
});

for (const [name, hash, shown] of [
  ['labels', '#/labels', SHOWN],
  ['patterns', `#/patterns?${new URLSearchParams({ q: SELECTOR })}`, 'took'],
  ['tail', `#/tail?${new URLSearchParams({ q: SELECTOR })}`, SHOWN],
  ['explain', `#/explain?${new URLSearchParams({ q: SELECTOR })}`, 'Explain'],
  ['deletes', '#/deletes', QUOTED],
  ['usage', '#/usage', 'Received'],
  ['status', '#/status', 'Configuration'],
] as const) {
  test(`the view ${name}`, async () => {
    const { page, done } = await explorer.open({ hash });
    if (name === 'explain') await page.locator('.explain-work').waitFor();
    await assertPlain(page, name, shown);
    await done();
  });
}

test('the values of a label', async () => {
  const { page, done } = await explorer.open({ hash: `#/labels?${new URLSearchParams({ open: 'pod' })}` });
  await page.getByRole('region', { name: 'Values of pod' }).getByRole('button').first().waitFor();
  await assertPlain(page, 'values');
  await done();
});

test('columns of the list, and the names that may be columns', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SELECTOR) });
  await page.locator('.log-line').first().waitFor();
  await page.getByRole('button', { name: 'Select columns' }).click();
  await page.getByRole('button', { name: 'Add pod' }).click();
  await page.getByRole('button', { name: 'Add trace' }).click();
  await page.locator('.column-head').nth(1).waitFor();
  await assertPlain(page, 'columns');
  await done();
});

test('values that the editor proposes', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{}'), expects: /status of 400/ });
  await openEditor(page);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('pod="');
  await page.locator('.cm-tooltip-autocomplete li').first().waitFor();
  await assertPlain(page, 'completion', 'onerror');
  await done();
});

test('the question before a delete request is canceled', async () => {
  const { page, done } = await explorer.open({ hash: '#/deletes' });
  await page
    .getByRole('button', { name: /^Cancel/ })
    .first()
    .click();
  await page.getByRole('dialog').waitFor();
  await assertPlain(page, 'cancel', QUOTED);
  await done();
});

test('an open line of a tail', async () => {
  const { page, done } = await explorer.open({ hash: `#/tail?${new URLSearchParams({ q: SELECTOR })}` });
  await page.locator('.tail-line').first().waitFor();
  await page.locator('.log-toggle').first().click();
  await page.locator('.tail-details').waitFor();
  await assertPlain(page, 'tail-details');
  await done();
});

test('rules with their alerts, and the active alerts; an annotation is a link where it is an address of the web', async () => {
  const { page, done } = await explorer.open({ hash: '#/rules' });
  await page.locator('.alert-line').first().waitFor({ timeout: 60_000 });
  await assertPlain(page, 'rules');
  await untilCount(page.locator('a[href^="javascript"]'), 0);
  await page.getByText('Active alerts', { exact: true }).click();
  await page.locator('.alert-table tbody tr').first().waitFor();
  await assertPlain(page, 'alerts');
  await done();
});

test('a tenant and a view that are named in the address', async () => {
  const params = new URLSearchParams({ q: SELECTOR, tenant: HOSTILE });
  const { page, done } = await explorer.open({
    hash: `#/logs?${params}`,
    expects: /status of|Failed to|header/,
  });
  await page.locator('.query-editor[data-ready=true]').waitFor();
  await assertPlain(page, 'tenant', 'Logs');
  await page.goto(`${explorer.store.url}/ui/#/${encodeURIComponent(HOSTILE)}`);
  await assertPlain(page, 'view', 'Logs');
  await done();
});

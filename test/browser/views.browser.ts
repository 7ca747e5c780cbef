/**
 * Every view in light and dark colors, on a desktop and on a phone: accessible, as wide as the screen, without a complaint, a
 * layout shift, or a movement that a user does not want. And every view with the keyboard.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, untilFits } from './support/eventually.ts';
import {
  assertAccessible,
  assertNoShift,
  DESKTOP,
  type Explorer,
  PHONE,
  screenshot,
  startExplorer,
} from './support/explorer.ts';
import { pushShop, SHOP_QUERY } from './support/shop.ts';

const YAML = `auth_enabled: false
limits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true, deletion_mode: filter-and-delete }
pattern_ingester: { enabled: true }
compactor: { retention_enabled: true, delete_request_store: filesystem }
`;
let explorer: Explorer;
let board = '';
before(async () => {
  explorer = await startExplorer(YAML);
  await pushShop(explorer.store, Date.now());
  board = await save('boards', BOARD);
  await save('queries', { name: 'Declined payments', queries: [`${SHOP_QUERY} |= "declined"`] });
});
after(() => explorer.stop());

const QUERY = `?${new URLSearchParams({ q: SHOP_QUERY })}`;
const METRIC = `?${new URLSearchParams({ q: `sum by (service_name) (rate(${SHOP_QUERY}[$__auto]))` })}`;
const panel = (title: string, kind: string, query: string, width = 6) => ({
  ...{ title, kind, width, rows: 4 },
  queries: [{ query, legend: '' }],
});
const LINES = 'sum by (service_name) (count_over_time({service_name=~"$service"}[$__auto]))';
const BOARD = {
  ...{ name: 'Shop', description: 'Orders, payments and the gateway', from: 'now-1h', to: 'now' },
  variables: [{ name: 'service', label: 'service_name', selector: SHOP_QUERY, several: true }],
  panels: [
    panel('Lines by service', 'bars', LINES, 8),
    panel('Now', 'top', LINES, 4),
    panel('Bytes per second', 'area', LINES.replace('count_over_time', 'bytes_rate')),
    panel('Busy times', 'heat', LINES),
    panel('Errors', 'logs', '{service_name=~"$service"} |= "error"', 12),
  ],
};

async function save(kind: 'boards' | 'queries', content: object): Promise<string> {
  const answer = await fetch(`${explorer.store.url}/svc/api/v1/ui/${kind}`, {
    method: 'POST',
    body: JSON.stringify(content),
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  return data.id;
}

/** The name of the picture, the route, and what is there when the view is. */
const VIEWS: readonly (readonly [string, string, (page: Page) => Promise<unknown>])[] = [
  ['start', '#/logs', page => page.getByRole('button', { name: 'gateway' }).waitFor()],
  ['logs', `#/logs${QUERY}`, page => page.locator('.volume-chart:not(.stale) canvas').waitFor()],
  ['metric', `#/logs${METRIC}`, page => page.locator('.chart-plot canvas').waitFor()],
  ['labels', `#/labels${QUERY}`, page => page.getByRole('checkbox').first().waitFor()],
  ['patterns', `#/patterns${QUERY}`, page => page.getByRole('table').waitFor()],
  ['tail', `#/tail${QUERY}`, page => page.locator('.log-text, .tail-line').first().waitFor()],
  ['explain', `#/explain${QUERY}`, page => page.locator('.explanation').waitFor()],
  ['heat', `#/logs${METRIC}&chart=heat`, page => page.locator('.heat-plot canvas').waitFor()],
  ['live', `#/logs${QUERY}&live=1`, page => page.locator('.tail-word.live').waitFor()],
  ['boards', '#/boards', page => page.getByRole('link', { name: /^Shop/ }).waitFor()],
  ['board', '#/boards?id=BOARD', page => page.locator('.board-panel canvas').first().waitFor()],
  ['alert', `#/rules?new=1&${QUERY.slice(1)}`, page => page.locator('.alert-preview canvas').waitFor()],
  ['rules', '#/rules', page => page.getByRole('heading').nth(1).waitFor()],
  ['deletes', '#/deletes', page => page.getByText('No delete requests').waitFor()],
  ['usage', '#/usage', page => page.getByText('Limits').first().waitFor()],
  ['status', '#/status', page => page.getByText('Configuration').first().waitFor()],
];

interface Look {
  readonly hash: string;
  readonly viewport: typeof DESKTOP;
  readonly colorScheme: 'light' | 'dark';
}

async function checkView(
  { hash, viewport, colorScheme }: Look,
  shown: (page: Page) => Promise<unknown>,
  picture: string,
): Promise<void> {
  const { page, done } = await explorer.open({ hash: hash.replace('BOARD', board), viewport, colorScheme });
  await shown(page);
  await page.waitForLoadState('networkidle');
  await assertNoShift(page);
  await eventually(
    () => page.evaluate('document.getAnimations().length'),
    count => assert.equal(count, 0),
  );
  await assertAccessible(page);
  await screenshot(page, `view-${picture}-${colorScheme}`);
  await untilFits(page, viewport.width);
  await done();
}

for (const [name, hash, shown] of VIEWS) {
  test(`${name} in light and dark colors on a desktop and on a phone`, async () => {
    for (const [size, viewport] of [
      ['desktop', DESKTOP],
      ['phone', PHONE],
    ] as const) {
      // Together, because much of it is waiting for the network to be idle.
      const colors = ['light', 'dark'] as const;
      await Promise.all(
        colors.map(color => checkView({ hash, viewport, colorScheme: color }, shown, `${name}-${size}`)),
      );
    }
  });
}

/**
 * Numbers the controls that Tab should reach, and returns them. Of a group of radio buttons it reaches the chosen one. Of the
 * rows of a long list, those that are drawn change when one gets the focus, so the first one stands for all.
 */
const CONTROLS = `(() => {
  const all = (document.querySelector('dialog[open]') ?? document).querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  const reached = [...all].filter(one =>
    !one.disabled && one.tabIndex >= 0 && one.checkVisibility() && (one.type !== 'radio' || one.checked) &&
    (one.closest('[role=listitem]')?.ariaPosInSet ?? '1') === '1');
  reached.forEach((one, i) => { one.dataset.control = i; });
  return reached.map(one => one.outerHTML.slice(0, 120));
})()`;
/** The number of the control with the focus, and whether a user sees that it has it. */
const FOCUS = `(() => {
  const one = document.activeElement;
  const around = [one, one.parentElement, one.closest('label'), one.closest('.query-editor')];
  const seen = around.some(shown => {
    if (shown === null) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(shown);
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  });
  return [one.dataset.control ?? '', seen, one.outerHTML.slice(0, 120)];
})()`;
const LONGEST_TAB_ORDER = 300;

/** Presses Tab through the page; throws if the focus cannot be seen. */
async function notReached(page: Page): Promise<readonly string[]> {
  const controls = (await page.evaluate(CONTROLS)) as string[];
  const reached = new Set<number>();
  for (let i = 0; i < LONGEST_TAB_ORDER && reached.size < controls.length; i++) {
    await page.keyboard.press('Tab');
    const [control, seen, element] = (await page.evaluate(FOCUS)) as [string, boolean, string];
    if (control !== '') reached.add(Number(control));
    assert.ok(seen || element.startsWith('<body'), `the focus is not visible on ${element}`);
  }
  return controls.filter((_, i) => !reached.has(i));
}

for (const [name, hash, shown] of VIEWS) {
  test(`Tab reaches every control of ${name}, visibly`, async () => {
    const { page, done } = await explorer.open({ hash: hash.replace('BOARD', board) });
    await shown(page);
    await page.waitForLoadState('networkidle');
    // Again if the page draws other controls meanwhile.
    await eventually(
      () => notReached(page),
      missed => assert.deepEqual(missed, []),
    );
    await done();
  });
}

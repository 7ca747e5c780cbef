/** Boards, saved queries, imports and alerts as a person makes them. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { eventually, untilCount, untilFits, untilText } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop, SHOP_QUERY } from './support/shop.ts';

const COUNTS = 'sum by (service_name) (count_over_time({service_name=~"$service"}[$__auto]))';
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

test('a board is made of panels and variables, saved, and shows the time of the board', async () => {
  const { page, done } = await explorer.open({ hash: '#/boards' });
  await page.getByText('No boards yet').waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Create board' }).click();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Shop');
  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  const panels = [
    ['Lines by service', COUNTS, 'lines'],
    ['Busy', COUNTS, 'heat'],
    ['Errors', '{service_name=~"$service"} |= "error"', 'logs'],
    ['Now', COUNTS, 'value'],
  ];
  for (const [title, query, kind] of panels) {
    await page.getByRole('button', { name: 'Add panel' }).click();
    await page.getByLabel('Title').fill(title);
    await page.getByLabel('Query A').fill(query);
    await page.getByLabel('Chart type').selectOption(kind);
    if (title === 'Lines by service') {
      await page.getByLabel('Legend A').fill('{{service_name}}');
      await assertAccessible(page);
      await screenshot(page, 'board-panel-form');
    }
    await page.getByRole('dialog').getByRole('button', { name: 'Add panel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await page.getByRole('button', { name: 'Save board' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await page.getByRole('region', { name: 'Lines by service' }).locator('canvas').waitFor();
  const legend = page.getByRole('region', { name: 'Lines by service' }).locator('.legend');
  // A saved board draws its panels again.
  await legend.nth(3).waitFor();
  await untilCount(legend, 4);
  const errors = page.getByRole('region', { name: 'Errors' }).locator('.board-lines li');
  await errors.first().waitFor();
  // Lines of several services show which.
  await untilText(errors.first().locator('.board-line-stream'), /^[a-z]+$/);
  // Values that do not fit are scrolled by keys; charts always fit.
  const bodies = page.locator('.board-panel-body');
  await eventually(
    () => bodies.evaluateAll(all => all.map(one => one.getAttribute('tabindex'))),
    indexes => assert.deepEqual(indexes, [null, '0', '0']),
  );
  await assertAccessible(page);
  await screenshot(page, 'board');

  await page.locator('.variable summary').click();
  await page.getByRole('checkbox', { name: 'payment' }).check();
  await untilParam(page, 'v.service', 'payment');
  await page
    .getByRole('region', { name: 'Lines by service' })
    .getByRole('button', { name: 'payment' })
    .waitFor();
  await page.locator('.board-legend li').nth(1).waitFor({ state: 'detached' });
  await page.locator('.variable summary').click();

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize(PHONE);
  await assertAccessible(page);
  await screenshot(page, 'board-phone-dark');
  await untilFits(page, PHONE.width);
  await done();
});

test('two editors do not overwrite each other: the later one gets a copy', async () => {
  const first = await explorer.open({ hash: '#/boards', expects: /409/ });
  await first.page.getByRole('link', { name: /^Shop/ }).click();
  await first.page.getByRole('button', { name: 'Edit', exact: true }).click();
  await first.page.getByRole('button', { name: 'Settings' }).click();
  await first.page.getByLabel('Name', { exact: true }).first().fill('Mine');
  await first.page.getByRole('button', { name: 'Apply' }).click();

  const { data } = (await (await fetch(`${explorer.store.url}/svc/api/v1/ui/boards`)).json()) as {
    data: { id: string; version: number }[];
  };
  const url = `${explorer.store.url}/svc/api/v1/ui/boards/${data[0].id}`;
  const { data: board } = (await (await fetch(url)).json()) as { data: { content: object; version: number } };
  const answer = await fetch(`${url}?version=${board.version}`, {
    method: 'PUT',
    body: JSON.stringify({ ...board.content, name: 'Shop of another' }),
  });
  assert.equal(answer.status, 200);

  await first.page.getByRole('button', { name: 'Save board' }).click();
  await first.page.getByText('was changed since version').waitFor();
  await assertAccessible(first.page);
  await first.page.getByRole('button', { name: 'Save copy' }).click();
  await first.page.getByRole('heading', { name: 'Mine (copy)' }).waitFor();
  await first.page.getByRole('link', { name: 'Boards', exact: true }).last().click();
  await first.page.getByRole('link', { name: /^Shop of another/ }).waitFor();
  await screenshot(first.page, 'boards');
  await first.done();
});

test('a query is saved, opened, added to a board, exported and imported', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash(`${SHOP_QUERY} |= "declined"`, { from: 'now-3h', to: 'now' }),
  });
  const open = () => page.getByRole('button', { name: 'Save, alert, or open a saved query' }).click();
  await page.locator('.log-line').first().waitFor();
  await open();
  await page.getByLabel('Save this query as').fill('Declined payments');
  await page.getByLabel('with its time range').check();
  await page.getByRole('button', { name: 'Save query' }).click();
  await page.getByText('Saved as Declined payments').waitFor();
  await page.getByLabel('Add to a board').selectOption({ label: 'Shop of another' });
  await page.getByText('Added to Shop of another').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'saved-queries');
  await open();
  await page.goto(`${explorer.store.url}/ui/#/logs`);
  await open();
  await page
    .getByRole('list', { name: 'Saved queries' })
    .getByRole('button', { name: /Declined/ })
    .click();
  await untilParam(page, 'from', 'now-3h');
  await page.locator('.log-line').first().waitFor();

  // Nothing is exported before it is known what there is.
  let answer = () => {};
  const held = new Promise<void>(resolve => {
    answer = resolve;
  });
  await page.route('**/svc/api/v1/ui/queries', async handler => {
    await held;
    await handler.continue();
  });
  await page.goto(`${explorer.store.url}/ui/#/boards`);
  await page.getByRole('button', { name: 'Export all', disabled: true }).waitFor();
  answer();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export all' }).click();
  const file = JSON.parse(await text(await (await download).createReadStream()));
  assert.deepEqual([file.format, file.boards.length, file.queries.length], ['logboom-explorer', 2, 1]);
  await page.getByRole('button', { name: 'Delete Declined payments' }).click();
  await page.getByRole('button', { name: 'Delete Declined payments' }).click();
  await page.getByRole('link', { name: /^Declined/ }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByLabel('JSON file').setInputFiles({
    ...{ name: 'x.json', mimeType: 'application/json' },
    buffer: Buffer.from(JSON.stringify({ ...file, boards: [] })),
  });
  await page.getByText('0 boards and 1 saved query').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await page.getByRole('link', { name: /^Declined/ }).waitFor();
  await done();
});

test('a dashboard of Grafana becomes a board, with a list of what does not translate', async () => {
  const { page, done } = await explorer.open({ hash: '#/boards' });
  const datasource = { type: 'loki', uid: 'x' };
  const dashboard = {
    title: 'From Grafana',
    templating: {
      list: [{ type: 'query', name: 'service', query: 'label_values(service_name)', multi: true }],
    },
    panels: [
      {
        type: 'timeseries',
        title: 'Rate',
        datasource,
        gridPos: { x: 0, y: 0, w: 24, h: 8 },
        targets: [{ expr: COUNTS }],
      },
      { type: 'news', title: 'News' },
    ],
  };
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByLabel('JSON file').setInputFiles({
    ...{ name: 'x.json', mimeType: 'application/json' },
    buffer: Buffer.from(JSON.stringify(dashboard)),
  });
  await page.getByText('Panel “News”: omitted: panel type news is not supported').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'boards-import');
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await page.getByRole('link', { name: /^From Grafana/ }).click();
  await page.getByRole('region', { name: 'Rate' }).locator('canvas').waitFor();
  await done();
});

test('an alert is created from a query, with a preview over the last day', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash(`${SHOP_QUERY} |= "declined"`),
    // A rule group that is not there is what is asked for first.
    expects: /404/,
  });
  await page.locator('.log-line').first().waitFor();
  await page.getByRole('button', { name: 'Save, alert, or open a saved query' }).click();
  await page.getByRole('button', { name: 'Create alert' }).click();
  const form = page.getByRole('dialog', { name: 'Create alert' });
  await eventually(
    () => form.getByLabel('Metric query').inputValue(),
    query => assert.equal(query, `sum(count_over_time(${SHOP_QUERY} |= "declined" [5m]))`),
  );
  await form.getByText(/In the last day it would have fired/).waitFor();
  await form.locator('canvas').waitFor();
  await form.getByRole('textbox', { name: 'Threshold' }).fill('1000000');
  await form.getByText('It would not have fired in the last day.').waitFor();
  await form.getByRole('textbox', { name: 'Threshold' }).fill('0');
  await form.getByLabel('Alert name').fill('DeclinedPayments');
  await assertAccessible(page);
  await screenshot(page, 'alert-form');
  await form.getByRole('button', { name: 'Create alert' }).click();
  await page.getByText('explorer / DeclinedPayments').waitFor();
  const answer = await fetch(`${explorer.store.url}/svc/api/v1/rules/explorer/DeclinedPayments`);
  assert.match(await answer.text(), /alert: DeclinedPayments/);

  await page.getByRole('button', { name: 'Create alert' }).click();
  await form.getByLabel('Metric query').fill('vector(1)');
  await form.getByLabel('Alert name').fill('DeclinedPayments');
  await form.getByRole('button', { name: 'Create alert' }).click();
  await form.getByText('rule group explorer/DeclinedPayments already exists').waitFor();
  await done();
});

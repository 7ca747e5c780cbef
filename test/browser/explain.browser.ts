/** The explanation of a query as a person uses it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, untilFits, untilText } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  openEditor,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop, SHOP_QUERY } from './support/shop.ts';

const OTHERS = 6;
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  const nowMs = Date.now();
  await pushShop(explorer.store, nowMs);
  // Chunks of other streams.
  for (let i = 0; i < OTHERS; i++) {
    const ns = `${BigInt(nowMs - i * 60_000) * 1_000_000n}`;
    await push(explorer.store, [{ stream: { service_name: `other-${i}` }, values: [[ns, 'a line']] }]);
  }
});
after(() => explorer.stop());

test('from the lines of a query to what it read, and to another query', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(`${SHOP_QUERY} |= "declined"`) });
  await page.getByRole('main').getByRole('link', { name: 'Explain' }).click();
  const steps = page.getByRole('region', { name: 'Data read' });
  const read = steps.getByRole('row', { name: /^Read/ });
  await read.waitFor();
  // Two pages, or one if the query of the lines has searched the other.
  await untilText(read.getByRole('cell').nth(1), /^[12]$/);
  await untilText(steps.getByRole('row', { name: /^In the time range/ }), /\d k?B$/);
  const byLabels = steps.getByRole('row', { name: /^Pruned by labels/ });
  await untilText(byLabels.getByRole('cell').first(), `${OTHERS}`);
  const work = page.getByRole('region', { name: 'Execution' });
  await work.getByText('Matching lines').waitFor();
  await untilText(page.locator('.explain-query pre'), /^\{namespace="shop"\} \|= "declined"$/);
  await assertAccessible(page);
  await screenshot(page, 'explain');
  const editor = await openEditor(page);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('sum(count_over_time({namespace="shop"}[$__auto]))');
  await editor.press('Control+Enter');
  await untilParam(page, 'q', 'sum(count_over_time({namespace="shop"}[$__auto]))');
  await steps.getByRole('row', { name: /^Counted from footers/ }).waitFor();
  await page.getByText('count_over_time({namespace="shop"}[', { exact: false }).last().waitFor();
  await done();
});

test('a mistake is explained; dark and at phone width', async () => {
  const hash = `#/explain?${new URLSearchParams({ q: '{namespace="shop"} | json | a = = 1' })}`;
  const { page, done } = await explorer.open({
    hash,
    viewport: PHONE,
    colorScheme: 'dark',
    expects: /status of 400/,
  });
  await page
    .getByRole('alert')
    .getByText(/parse error/)
    .waitFor();
  await page.goto(`${explorer.store.url}/ui/#/explain?${new URLSearchParams({ q: SHOP_QUERY })}`);
  await page.getByRole('row', { name: /^Read/ }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'explain-phone');
  await untilFits(page, PHONE.width);
  await done();
});

/** Where cells end: those of one column end below each other. */
function ends(cells: readonly { getBoundingClientRect(): { right: number } }[]): readonly number[] {
  return cells.map(cell => Math.round(cell.getBoundingClientRect().right));
}

test('a step that skipped values is a row like the others', async () => {
  const { page, done } = await explorer.open({
    hash: `#/explain?${new URLSearchParams({ q: `${SHOP_QUERY} | pod="nowhere"` })}`,
  });
  const steps = page.getByRole('region', { name: 'Data read' });
  const byValues = steps.getByRole('row', { name: /^Pruned by values/ });
  await byValues.waitFor();
  await untilText(byValues.getByRole('cell').nth(1), /^[^–]+$/);
  await eventually(
    async () => [
      await steps.getByRole('columnheader').evaluateAll(ends),
      await byValues.locator('th, td').evaluateAll(ends),
    ],
    ([heads, cells]) => {
      assert.equal(heads.length, 4);
      assert.deepEqual(cells, heads);
    },
  );
  await screenshot(page, 'explain-values');
  await done();
});

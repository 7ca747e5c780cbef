/** Patterns as a person uses them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, untilCount, untilFits } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop, SHOP_QUERY } from './support/shop.ts';

const YAML = `auth_enabled: false
limits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true }
pattern_ingester: { enabled: true }
`;
const HASH = `#/patterns?${new URLSearchParams({ q: SHOP_QUERY })}`;
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(YAML);
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

test('patterns with counts over time, by level; a click asks for the lines of one', async () => {
  const { page, done } = await explorer.open({ hash: HASH });
  const table = page.getByRole('table');
  await table.getByRole('link', { name: /payment declined/ }).waitFor();
  const counts = await eventually(
    () => table.locator('.pattern-count').allTextContents(),
    found => {
      assert.ok(found.length > 5, `${found}`);
      const numbers = found.map(text => Number(text.replaceAll(',', '')));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => b - a),
      );
    },
  );
  await untilCount(table.getByRole('img', { name: /Over time: at most \d+ lines per/ }), counts.length);
  await assertAccessible(page);
  await screenshot(page, 'patterns');
  await page.getByRole('button', { name: /^error/ }).click();
  await untilParam(page, 'level', 'error');
  await eventually(
    () => table.locator('.pattern-level').allTextContents(),
    levels => assert.deepEqual([...new Set(levels)], ['error']),
  );
  const declined = page.getByRole('link', { name: /payment declined/ });
  const count = page.locator('tr', { has: declined }).locator('.pattern-count');
  const shown = await eventually(
    async () => Number(await count.textContent()),
    found => assert.ok(found > 0, `${found}`),
  );
  await declined.click();
  await page.waitForURL(({ hash }) => hash.startsWith('#/logs'));
  const query = new URLSearchParams(page.url().split('?')[1]).get('q') ?? '';
  assert.match(query, /^\{namespace="shop"\} \|> `.*payment declined.*`$/);
  await page.getByText(`${shown} lines`).first().waitFor();
  await eventually(
    () => page.locator('.log-text').allTextContents(),
    lines => assert.ok(lines.length > 0 && lines.every(text => text.includes('payment declined')), lines[0]),
  );
  await page.goBack();
  await table.getByRole('link', { name: 'Show all other lines' }).first().click();
  await page.waitForURL(({ hash }) => hash.includes('%21%3E'));
  await page.locator('.log-line').first().waitFor();
  await done();
});

test('dark, at phone width, newest first; what goes along to the other views', async () => {
  const { page, done } = await explorer.open({ hash: HASH, viewport: PHONE, colorScheme: 'dark' });
  await page.locator('.pattern-text').first().waitFor();
  await page.getByText('Newest').click();
  await untilParam(page, 'sort', 'newest');
  await assertAccessible(page);
  await screenshot(page, 'patterns-phone');
  await untilFits(page, PHONE.width);
  await page.getByRole('link', { name: 'Explain' }).click();
  await page.waitForURL(({ hash }) => hash.startsWith('#/explain'));
  await untilParam(page, 'q', SHOP_QUERY);
  await done();
});

test('a store that mines none says how to switch them on', async () => {
  const other = await startExplorer();
  try {
    const { page, done } = await other.open({ hash: HASH, expects: /status of 404/ });
    await page.getByText('Pattern mining is disabled').waitFor();
    await assertAccessible(page);
    await screenshot(page, 'patterns-off');
    await done();
  } finally {
    await other.stop();
  }
});

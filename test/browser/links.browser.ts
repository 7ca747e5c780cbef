/** Links from the values of a field to another system. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from './support/eventually.ts';
import { assertAccessible, type Explorer, logsHash, screenshot, startExplorer } from './support/explorer.ts';
import { pushShop } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

test('a trace ID leads to its trace, by a link that this browser remembers', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="payment"}') });
  await page.locator('.log-line').first().click();
  const details = page.getByRole('region', { name: 'Line details' });
  await details.getByRole('button', { name: 'Link for trace_id' }).click();
  const sheet = page.getByRole('dialog', { name: 'Link for trace_id' });
  const address = sheet.getByRole('textbox', { name: 'URL' });
  await address.fill('javascript:alert({value})');
  await sheet.getByText('A link starts with http:// or https://.').waitFor();
  await sheet.getByRole('button', { name: 'Save link', disabled: true }).waitFor();
  // The page may ask no other host in a test, so the store has the trace.
  await address.fill(`${explorer.store.url}/ui/?trace={value}`);
  await assertAccessible(page);
  await screenshot(page, 'link');
  await sheet.getByRole('button', { name: 'Save link' }).click();
  const link = details.locator('.field-value a');
  const trace = await eventually(
    () => link.textContent(),
    found => assert.match(found ?? '', /^[0-9a-f]{12}$/),
  );
  const opened = page.waitForEvent('popup');
  await link.click();
  const other = await opened;
  await other.waitForURL(`${explorer.store.url}/ui/?trace=${trace}`);
  await other.close();
  await page.reload();
  await page.locator('.log-line').nth(1).click();
  await eventually(
    () => link.getAttribute('rel'),
    rel => assert.equal(rel, 'noopener noreferrer'),
  );
  await details.getByRole('button', { name: 'Link for trace_id' }).click();
  await sheet.getByRole('button', { name: 'Remove link' }).click();
  await link.waitFor({ state: 'detached' });
  await done();
});

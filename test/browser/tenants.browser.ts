/** A store with several tenants: the page asks whose logs to show, and remembers. */
import { after, before, test } from 'node:test';
import { assertAccessible, type Explorer, logsHash, screenshot, startExplorer } from './support/explorer.ts';
import { push } from './support/shop.ts';

const nowMs = Date.now();
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer('auth_enabled: true\nlimits_config: { reject_old_samples: false }');
  for (const tenant of ['acme', 'globex']) {
    const values: [string, string][] = [[`${BigInt(nowMs) * 1_000_000n}`, `a line of ${tenant}`]];
    await push(explorer.store, [{ stream: { app: 'web' }, values }], { 'X-Scope-OrgID': tenant });
  }
});
after(() => explorer.stop());

test('without a tenant the store’s answer opens the sheet; the one that is given is asked, remembered and in the address', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{app="web"}'), expects: /status of 401/ });
  const sheet = page.getByRole('dialog', { name: 'Tenant and sign-in' });
  await sheet.getByRole('alert').getByText('no org id').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'tenant');
  await sheet.getByLabel('Tenant').fill('acme');
  await page.keyboard.press('Enter');
  await page.getByText('a line of acme').waitFor();
  await page.waitForURL(({ hash }) => hash.includes('tenant=acme'));
  await page.goto(`${explorer.store.url}/ui/${logsHash('{app="web"}', { tenant: 'globex' })}`);
  await page.getByText('a line of globex').waitFor();
  await page.goto('about:blank');
  await page.goto(`${explorer.store.url}/ui/${logsHash('{app="web"}')}`);
  await page.getByText('a line of acme').waitFor();
  await done();
});

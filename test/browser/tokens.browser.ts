/** A store that requires tokens: the page requests one, keeps it in this tab, and reports missing scopes. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startLocal } from '../../local/start.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { logboom } from '../bin/run-command.ts';
import { untilCount } from './support/eventually.ts';
import { assertAccessible, type Explorer, explore, logsHash, screenshot } from './support/explorer.ts';
import { push } from './support/shop.ts';

const YAML = 'auth: {tokens_enabled: true}\nlimits_config: {reject_old_samples: false}\n';
let folder: string;
let explorer: Explorer;
let token: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-explorer-'));
  const dataDir = join(folder, 'data');
  const configFile = join(folder, 'config.yaml');
  await writeFile(configFile, YAML);
  const args = ['--name', 'me', '--tenant', 'acme', '--scope', 'logs:read', '--scope', 'logs:write'];
  const made = await logboom(['token', 'create', ...args, '--config', configFile, '--data-dir', dataDir]);
  token = made.stdout.trim();
  const { config } = parseConfig(YAML, { name: 'test', environment: {} });
  const storage = { kind: 'embedded', dataDir } as const;
  explorer = await explore(
    await startLocal({ config, storage, host: '127.0.0.1', port: 0, logLevel: 'silent' }),
  );
  const values: [string, string][] = [[`${BigInt(Date.now()) * 1_000_000n}`, 'a line of acme']];
  const authorization = `Basic ${Buffer.from(`acme:${token}`).toString('base64')}`;
  await push(explorer.store, [{ stream: { app: 'web' }, values }], { authorization });
});
after(async () => {
  await explorer.stop();
  await rm(folder, { recursive: true, force: true });
});

test('signing in with a token, a wrong one first; another tab knows nothing of it', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{app="web"}'), expects: /status of 401/ });
  const sheet = page.getByRole('dialog', { name: 'Tenant and sign-in' });
  await sheet.getByRole('alert').getByText('authentication required').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'sign-in');
  await sheet.getByLabel('Tenant').fill('acme');
  await sheet.getByLabel('Token or password').fill('lgbm_wrong');
  await page.keyboard.press('Enter');
  await sheet.getByRole('alert').waitFor();
  await sheet.getByLabel('Token or password').fill(token);
  await page.keyboard.press('Enter');
  await page.getByText('a line of acme').waitFor();
  await page.reload();
  await page.getByText('a line of acme').waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole('dialog', { name: 'Tenant and sign-in' }).waitFor();
  await untilCount(other.getByText('a line of acme'), 0);
  await page.getByRole('button', { name: 'acme' }).click();
  await sheet.getByRole('button', { name: 'Sign out' }).click();
  await sheet.getByRole('alert').waitFor();
  await done();
});

test('a live tail opens with a ticket', async () => {
  const query = '{app="web"}';
  const { page, done } = await explorer.open({
    hash: `#/tail?${new URLSearchParams({ q: query })}`,
    expects: /status of 401/,
  });
  const sheet = page.getByRole('dialog', { name: 'Tenant and sign-in' });
  await sheet.getByLabel('Tenant').fill('acme');
  await sheet.getByLabel('Token or password').fill(token);
  const opened = page.waitForEvent('websocket');
  await page.keyboard.press('Enter');
  assert.match((await opened).url(), /[?&]ticket=[0-9a-f]{64}(&|$)/);
  await page.getByText('Live', { exact: true }).waitFor();
  const values: [string, string][] = [[`${BigInt(Date.now()) * 1_000_000n}`, 'a later line']];
  const authorization = `Basic ${Buffer.from(`acme:${token}`).toString('base64')}`;
  await push(explorer.store, [{ stream: { app: 'web' }, values }], { authorization });
  await page.locator('.tail-line').getByText('a later line').waitFor();
  await done();
});

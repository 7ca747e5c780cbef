/** A store without logs, sample data, and queries that find nothing. */
import { after, before, test } from 'node:test';
import { untilCount, untilFits } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(`auth_enabled: false
limits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true, deletion_mode: filter-and-delete }
compactor: { retention_enabled: true, delete_request_store: filesystem }
`);
});
after(() => explorer.stop());

test('sample data is loaded by one click, labeled, and deleted by another', async () => {
  const { page, done } = await explorer.open();
  await page.getByRole('heading', { name: 'Send your first logs' }).waitFor();
  await page.getByText('Waiting for the first entry').waitFor();
  for (const way of ['Docker', 'OpenTelemetry', 'Alloy', 'File', 'curl']) {
    await page.getByText(way, { exact: true }).click();
    await page.locator('.example', { hasText: explorer.store.url }).waitFor();
  }
  await assertAccessible(page);
  await screenshot(page, 'first-run');
  await page.getByRole('button', { name: 'Load sample data' }).click();
  await page.getByRole('button', { name: 'sample-payments' }).waitFor();
  await untilCount(page.locator('.service'), 5);
  await screenshot(page, 'sample-data');
  await page.getByRole('button', { name: 'Delete sample data' }).click();
  // Nothing of it is left, and a second load is not hidden by the request.
  await page.getByRole('heading', { name: 'Send your first logs' }).waitFor();
  await page.getByText('Waiting for the first entry').waitFor();
  await page.goto(`${explorer.store.url}/ui/${logsHash('{sample_data=~".+"}')}`);
  await page.getByText('No matching lines in this time range').waitFor();
  await page.goto(`${explorer.store.url}/ui/#/logs`);
  await page.getByRole('button', { name: 'Load sample data' }).click();
  await page.getByRole('button', { name: 'sample-payments' }).click();
  await page.locator('.log-line').first().waitFor();
  await page.goto(`${explorer.store.url}/ui/#/logs`);
  await page.getByRole('button', { name: 'Delete sample data' }).click();
  await page.getByRole('heading', { name: 'Send your first logs' }).waitFor();
  await done();
});

test('the first entry is announced when it arrives, and a click shows it', async () => {
  const { page, done } = await explorer.open({ hash: '#/logs?from=1700000000000&to=1700003600000' });
  await page.getByRole('heading', { name: 'Send your first logs' }).waitFor();
  await push(explorer.store, [
    { stream: { service_name: 'aaa-first' }, values: [[`${BigInt(Date.now()) * 1_000_000n}`, 'hello']] },
  ]);
  await page.getByText(/Logs of .* have arrived/).waitFor();
  await page.getByRole('button', { name: 'Show logs' }).click();
  await untilParam(page, 'from', null);
  await page.waitForURL(({ hash }) => hash.includes('service_name'));
  await done();
});

test('a query without a result says whether the value, the filter or the time is why', async () => {
  const nowMs = Date.now();
  const at = (ms: number) => `${BigInt(ms) * 1_000_000n}`;
  await push(explorer.store, [
    { stream: { service_name: 'checkout' }, values: [[at(nowMs - 1000), 'order placed']] },
    { stream: { service_name: 'nightly' }, values: [[at(nowMs - 30 * 3_600_000), 'backup done']] },
  ]);
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="chekcout"}') });
  await page.getByText('no stream has the service_name “chekcout”. Did you mean “checkout”?').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'no-lines-value');
  await page.getByRole('button', { name: 'Search checkout' }).click();
  await untilParam(page, 'q', '{service_name="checkout"}');
  await page.locator('.log-line').first().waitFor();

  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="checkout"} |= "refund"')}`);
  await page.getByText('About 1 line in the selected streams, but none passes the filters').waitFor();
  await page.getByRole('button', { name: 'Show lines without filters' }).click();
  await untilParam(page, 'q', '{service_name="checkout"}');

  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name=~"night.*"}')}`);
  await page.getByRole('button', { name: 'Search the last 7 days' }).click();
  await untilParam(page, 'from', 'now-7d');
  await page.getByText('backup done').waitFor();
  await done();
});

test('at phone width the examples fit', async () => {
  const { page, done } = await explorer.open({
    hash: '#/logs?from=1700000000000&to=1700003600000',
    viewport: PHONE,
    colorScheme: 'dark',
  });
  await page.getByRole('button', { name: 'Load sample data' }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'first-run-phone');
  await untilFits(page, PHONE.width);
  await done();
});

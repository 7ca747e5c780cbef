/** Delete requests as a person makes, follows and cancels them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startStore } from '../end-to-end/support/store.ts';
import { eventually, untilCount, untilFits } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  explore,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop } from './support/shop.ts';

const CHARGED = '{service_name="payment"} |= "charged"';
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

test('what is to be deleted is counted, confirmed, and then hidden from queries', async () => {
  const { page, done } = await explorer.open({ hash: '#/deletes', expects: /status of 400/ });
  await page.getByRole('heading', { name: 'No delete requests' }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press('n');
  const sheet = page.getByRole('dialog', { name: 'Delete logs' });
  await sheet.getByLabel('Query of the lines to delete').fill('{service_name="payment"');
  await sheet.getByRole('button', { name: 'Count lines' }).click();
  await sheet.getByRole('alert').getByText('parse error at line 1, col').waitFor();
  await sheet.getByLabel('Query of the lines to delete').fill(CHARGED);
  await sheet.getByLabel('From').fill('yesterday');
  await sheet.getByText('Enter a time such as 2026-11-21 14:05:00 or now-6h.', { exact: true }).waitFor();
  await sheet.getByLabel('From').fill('now-2h');
  await sheet.getByRole('button', { name: 'Count lines' }).click();
  const button = sheet.getByRole('button', { name: /^Delete \d+ lines$/ });
  await button.waitFor();
  const counted = Number(/\d+/.exec((await button.textContent()) ?? '')?.[0]);
  assert.ok(counted > 500 && counted < 900, `${counted}`);
  await assertAccessible(page);
  await screenshot(page, 'delete-form');
  // Another range asks for another count.
  await sheet.getByLabel('From').fill('now-3h');
  await sheet.getByRole('button', { name: 'Count lines' }).click();
  await sheet.getByRole('button', { name: `Delete ${counted} lines` }).click();
  await page.getByText('Request created').waitFor();
  const card = page.getByRole('listitem', { name: /Delete request/ });
  await card.getByText('Waiting', { exact: true }).waitFor();
  await page.getByText('1 request, 1 open').waitFor();
  await eventually(
    () => query(`sum(count_over_time(${CHARGED}[2h]))`),
    ({ status, data }) => assert.deepEqual([status, data.result], ['success', []]),
  );
  await done();
});

test('a query of a link fills the form; what matches nothing says so', async () => {
  const params = new URLSearchParams({ new: '1', q: CHARGED, from: 'now-2h' });
  const { page, done } = await explorer.open({ hash: `#/deletes?${params}` });
  const sheet = page.getByRole('dialog', { name: 'Delete logs' });
  await sheet.getByRole('button', { name: 'Count lines' }).click();
  await sheet.getByText('No line matches.').waitFor();
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await page.waitForURL(({ hash }) => !hash.includes('new=1'));
  await done();
});

test('a request that waits is canceled, and its lines are back', async () => {
  const { page, done } = await explorer.open({ hash: '#/deletes' });
  await page.getByRole('button', { name: 'Cancel request', exact: true }).click();
  const sheet = page.getByRole('dialog', { name: /Cancel request/ });
  await sheet.getByText('Its hidden lines become visible again.').waitFor();
  await assertAccessible(page);
  await sheet.getByRole('button', { name: 'Cancel request' }).click();
  await page.getByText(/Request \w+ canceled/).waitFor();
  await page.getByRole('heading', { name: 'No delete requests' }).waitFor();
  await eventually(
    () => query(`sum(count_over_time(${CHARGED}[2h]))`),
    ({ data }) => assert.equal(data.result.length, 1),
  );
  await done();
});

test('progress of requests in each state, light, dark and on a phone', async () => {
  const nowSeconds = Date.now() / 1000;
  const of = (id: string, query: string, hours: number) => ({
    request_id: id,
    query,
    start_time: nowSeconds - hours * 3600,
    end_time: nowSeconds - 600,
  });
  const listed = [
    of('9c41e07a', '{namespace="shop"} |= "user=4711"', 30 * 24),
    of('5a3c1b2d', '{service_name="checkout", region="eu-central-1"} | json | order=`18420`', 7 * 24),
    of('17be90f3', '{service_name="worker"} |~ "customer-[0-9]+"', 24),
  ];
  const step = { parts: 30, bytes_total: 6_400_000_000 };
  const days = (count: number) => nowSeconds - count * 86_400;
  const none = { picked_up_at: null, sealed_at: null, processed_at: null };
  const progress = [
    { ...step, ...none, request_id: '9c41e07a', parts_done: 0, bytes_done: 0, created_at: nowSeconds - 4000 },
    {
      ...{ ...step, ...none, request_id: '5a3c1b2d', parts_done: 12, bytes_done: 2_750_000_000 },
      ...{ created_at: days(2), picked_up_at: days(1) },
    },
    {
      ...{ ...step, request_id: '17be90f3', parts_done: 30, bytes_done: 6_400_000_000, created_at: days(6) },
      ...{ picked_up_at: days(5), sealed_at: days(4.9), processed_at: days(4.8) },
    },
  ];
  const { page, done } = await explorer.open({ hash: '#/nowhere' });
  // Removal takes a day: the list is what a store answers then.
  await page.route('**/svc/api/v1/delete', route => route.fulfill({ json: listed }));
  await page.route('**/svc/api/v1/status/deletes', route => route.fulfill({ json: progress }));
  await page.goto(`${explorer.store.url}/ui/#/deletes`);
  await page.getByText('42%, 2.8 GB of 6.4 GB processed').waitFor();
  await untilCount(page.getByRole('button', { name: 'Cancel request', exact: true }), 2);
  await screenshot(page, 'deletes');
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertAccessible(page);
  await screenshot(page, 'deletes-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  await untilFits(page, PHONE.width, '.panel-page');
  await screenshot(page, 'deletes-phone');
  await page.getByText('Processed 1').click();
  await untilParam(page, 'state', 'processed');
  await page.getByText('17be90f3').waitFor();
  await untilCount(page.locator('.delete-card'), 1);
  await done();
});

test('a store that only hides says so, and one past its time to cancel asks for force', async () => {
  const store = await startStore(
    'auth_enabled: false\ncompactor: { delete_request_cancel_period: 0s }\nlimits_config: { deletion_mode: filter-only }',
  );
  const other = await explore(store);
  try {
    await pushShop(store, Date.now());
    const params = new URLSearchParams({ query: CHARGED, start: new Date(Date.now() - 7.2e6).toISOString() });
    await fetch(`${store.url}/svc/api/v1/delete?${params}`, { method: 'POST' });
    const { page, done } = await other.open({ hash: '#/deletes', expects: /status of 400/ });
    await page.getByText('never delete them').waitFor();
    await page.getByRole('button', { name: 'Cancel request', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click();
    await page.getByText('To force, use the ?force query parameter').waitFor();
    await screenshot(page, 'delete-force');
    await page.getByRole('button', { name: 'Force cancel' }).click();
    await page.getByText(/Request \w+ canceled/).waitFor();
    await done();
  } finally {
    await other.stop();
  }
});

test('where deletes are off or refused, the store’s answer is there with what decides it', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere', expects: /status of 40[34]/ });
  for (const [status, body, why] of [
    [404, '404 page not found', 'compactor.retention_enabled'],
    [403, 'deletion is not available for this tenant', 'deletion_mode'],
  ] as const) {
    await page.route('**/svc/api/v1/delete', route => route.fulfill({ status, body }));
    // The view asks again only if it was left: of two changes of the address at once, a page sees the last.
    await page.goto(`${explorer.store.url}/ui/#/nowhere`);
    await page.getByText('Page “nowhere” does not exist').waitFor();
    await page.goto(`${explorer.store.url}/ui/#/deletes`);
    await page.getByRole('alert').getByText(body).waitFor();
    await page.getByText(why).waitFor();
    await untilCount(page.getByRole('button', { name: 'Delete logs' }), 0);
  }
  await done();
});

interface Counted {
  readonly status: string;
  readonly data: { readonly result: readonly unknown[] };
}

async function query(text: string): Promise<Counted> {
  const answer = await fetch(
    `${explorer.store.url}/svc/api/v1/query?${new URLSearchParams({ query: text })}`,
  );
  return (await answer.json()) as Counted;
}

/** Rules and alerts as a person looks through them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, untilCount, untilFits, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop } from './support/shop.ts';

const YAML = `auth_enabled: false
limits_config: { reject_old_samples: false }
`;
const ERRORS = `name: errors
interval: 1s
rules:
  - record: shop:errors:count1m
    expr: sum by (service_name) (count_over_time({namespace="shop"} |= "error" [1m]))
  - alert: ManyErrors
    expr: sum by (service_name) (count_over_time({namespace="shop"} |= "error" [1h])) > 5
    labels: {severity: page}
    annotations:
      summary: '{{ $labels.service_name }} logged {{ $value }} errors in an hour'
      runbook_url: https://example.com/runbooks/errors
  - alert: NoErrors
    expr: sum(count_over_time({namespace="shop"} |= "never said" [5m])) > 5
`;
const LATENCY = `name: latency
interval: 1s
rules:
  - alert: SlowPayments
    expr: sum(count_over_time({service_name="payment"} |= "slow answer" [1h])) > 1
    for: 1h
    labels: {severity: ticket}
    annotations: {summary: The bank answers slowly}
`;
const BROKEN = `name: habits
interval: 1s
rules:
  - alert: NoMetric
    expr: '{namespace="shop"} |= "error"'
`;

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(YAML);
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

test('without rules it says how to write one', async () => {
  const { page, done } = await explorer.open({ hash: '#/rules' });
  await page.getByRole('heading', { name: 'No rules' }).waitFor();
  await assertAccessible(page);
  await done();
});

test('groups with the state of their rules, the firing ones first; expressions lead to the logs', async () => {
  const groups = [
    ['checkout', ERRORS],
    ['payment', LATENCY],
    ['account', BROKEN],
  ];
  for (const [namespace, group] of groups) {
    const answer = await fetch(`${explorer.store.url}/svc/api/v1/rules/${namespace}`, {
      method: 'POST',
      body: group,
    });
    assert.equal(answer.status, 202, await answer.text());
  }
  const { page, done } = await explorer.open({ hash: '#/rules' });
  // The page asks again by itself when the rules were evaluated.
  await page.getByText('checkout logged 86 errors in an hour').waitFor({ timeout: 60_000 });
  await page.getByText('Broken', { exact: true }).waitFor();
  await page.getByText('Pending', { exact: true }).waitFor();
  await page.getByText('rule result is not a vector or scalar').waitFor();
  await page.getByText('5 rules in 3 groups, 1 firing, 1 broken').waitFor();
  await untilTexts(page.locator('.panel h2'), ['checkout / errors', 'account / habits', 'payment / latency']);
  await untilTexts(page.locator('.rule-name strong'), [
    ...['ManyErrors', 'shop:errors:count1m', 'NoErrors', 'NoMetric', 'SlowPayments'],
  ]);
  await eventually(
    () => page.getByRole('link', { name: 'runbook' }).first().getAttribute('href'),
    href => assert.equal(href, 'https://example.com/runbooks/errors'),
  );
  await assertAccessible(page);
  await screenshot(page, 'rules');
  await page.getByRole('link', { name: /slow answer/ }).click();
  await page.getByRole('img', { name: /Values of 1 series/ }).waitFor();
  await page.waitForURL(({ hash }) => /#\/logs\?q=.*slow\+answer/.test(decodeURIComponent(hash)));
  await done();
});

test('rules by state and by text, and the alerts that are active, dark and on a phone', async () => {
  const { page, done } = await explorer.open({ hash: '#/rules', colorScheme: 'dark' });
  await page.getByText('Pending 1').click();
  await untilParam(page, 'state', 'pending');
  await page.locator('.panel h2').getByText('payment / latency').waitFor();
  await untilCount(page.locator('.rule'), 1);
  await page.getByText('All 5').click();
  await page.getByRole('searchbox', { name: 'Search rules' }).fill('never said');
  await page.locator('.rule-name').getByText('NoErrors').waitFor();
  await untilCount(page.locator('.rule'), 1);
  await page.getByRole('searchbox').fill('no such thing');
  await page.getByText('No matching rules').waitFor();
  await page.getByRole('searchbox').fill('');
  await screenshot(page, 'rules-dark');
  await page.getByText('Active alerts', { exact: true }).click();
  await untilParam(page, 'show', 'alerts');
  await page.getByRole('row', { name: /SlowPayments/ }).waitFor();
  await eventually(
    () => page.locator('.alert-table tbody tr').allTextContents(),
    rows =>
      assert.deepEqual(
        rows.map(text => /^(Firing|Pending)/.exec(text)?.[0]),
        ['Firing', 'Firing', 'Pending'],
      ),
  );
  await assertAccessible(page);
  await screenshot(page, 'alerts-dark');
  await page.goBack();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  await page.getByText('checkout logged').waitFor();
  await untilFits(page, PHONE.width);
  await untilFits(page, PHONE.width, '.panel-page');
  await screenshot(page, 'rules-phone');
  await done();
});

test('shows the error of the store for endpoints that the process does not serve', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere', expects: /status of 404/ });
  await page.route('**/compat/api/v1/rules', route =>
    route.fulfill({ status: 404, body: '404 page not found' }),
  );
  await page.goto(`${explorer.store.url}/ui/#/rules`);
  await page.getByRole('alert').getByText('404 page not found').waitFor();
  await done();
});

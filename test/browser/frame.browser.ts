/** The page as a whole: where it is, how it is served, the rail, the sheets, the look. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, untilCount, untilFits } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  openEditor,
  PHONE,
  screenshot,
  startExplorer,
} from './support/explorer.ts';
import { pushShop, SHOP_QUERY } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
});
after(() => explorer.stop());

test('a browser that opens the root of the store is led to the page; an API client is not', async () => {
  const { page, done } = await explorer.open();
  await page.goto(explorer.store.url);
  await page.waitForURL(`${explorer.store.url}/ui/`);
  const answer = await fetch(explorer.store.url, { redirect: 'manual' });
  assert.equal(answer.status, 404);
  await done();
});

test('the help sheet opens with a key, lists the shortcuts and closes with Escape', async () => {
  const { page, done } = await explorer.open();
  await page.locator('.rail').waitFor();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.getByText('Show keyboard shortcuts').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'help');
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await done();
});

test('light, dark and the system’s colors are taken in turn and remembered', async () => {
  const { page, done } = await explorer.open();
  const untilScheme = (scheme: string) =>
    eventually(
      () => page.evaluate('getComputedStyle(document.documentElement).colorScheme'),
      found => assert.equal(found, scheme),
    );
  await untilScheme('light dark');
  await page.getByRole('button', { name: 'System theme' }).click();
  await untilScheme('light');
  await page.getByRole('button', { name: 'Light theme' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Dark theme' }).waitFor();
  await untilScheme('dark');
  await done();
});

test('without logs the page offers examples that send some, each with a button that copies it', async () => {
  const { page, done } = await explorer.open({ hash: '#/logs?from=1700000000000&to=1700003600000' });
  await page.getByRole('heading', { name: 'Send your first logs' }).waitFor();
  await page.getByText('File', { exact: true }).click();
  await page
    .getByText(`logboom push app.log --label service_name=app --addr ${explorer.store.url}`)
    .waitFor();
  await page.getByRole('button', { name: 'Copy example' }).click();
  await eventually(
    () => page.evaluate('navigator.clipboard.readText()') as Promise<string>,
    copied => assert.match(copied, /^logboom push app\.log --label service_name=app --addr http/),
  );
  await assertAccessible(page);
  await done();
});

test('an address that names no view says so', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere' });
  await page.getByText('Page “nowhere” does not exist').waitFor();
  await assertAccessible(page);
  await done();
});

test('at phone width nothing is wider than the screen', async () => {
  const { page, done } = await explorer.open({ viewport: PHONE });
  await page.locator('.rail').waitFor();
  await untilFits(page, PHONE.width);
  await done();
});

test('a store with one tenant names none; at phone width every view can be reached', async () => {
  const { page, done } = await explorer.open({ viewport: PHONE });
  await page.getByRole('heading', { name: 'Send your first logs' }).waitFor();
  await untilCount(page.getByText('Tenant', { exact: true }), 0);
  const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
  await eventually(
    () => links.evaluateAll(all => all.map(one => one.getBoundingClientRect().toJSON())),
    boxes => {
      assert.equal(boxes.length, 10);
      for (const { left, right, width } of boxes) {
        assert.ok(left >= 0 && right <= PHONE.width && width >= 24, `${left} to ${right}`);
      }
    },
  );
  await page.getByRole('link', { name: 'Status' }).click();
  await page.locator('.rail-link[aria-current=page]').getByText('Status').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'rail-phone');
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('region', { name: 'Received' }).waitFor();
  await page.getByText('Ingested, stored, and queried data, by UTC day').waitFor();
  await done();
});

test('the frame that is there before the scripts run is the one that they draw; it does not load them', async () => {
  const { page, done } = await explorer.open();
  await page.getByText('Waiting for the first entry').waitFor();
  const html = await (await fetch(`${explorer.store.url}/ui/`)).text();
  assert.match(html, /start-\w+\.js/);
  assert.doesNotMatch(html, /main-\w+\.js/);
  const compare = `(() => {
    const before = new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html').querySelector('.rail');
    const now = document.querySelector('.rail').cloneNode(true);
    for (const link of now.querySelectorAll('[aria-current]')) link.removeAttribute('aria-current');
    return before.querySelectorAll('nav a').length > 5 && before.isEqualNode(now);
  })()`;
  await eventually(
    () => page.evaluate(compare),
    isEqual => assert.equal(isEqual, true),
  );
  await done();
});

/** Compressed bytes of all responses until the network is idle: page, scripts, styles, icons, fonts and data. */
async function countBytes(page: Page, address: string, act: (page: Page) => Promise<unknown>) {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  const files = new Map<string, { url: string; bytes: number }>();
  network.on('Network.responseReceived', ({ requestId, response }) => {
    files.set(requestId, { url: response.url, bytes: 0 });
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const file = files.get(requestId);
    if (file !== undefined) file.bytes = encodedDataLength;
  });
  await page.goto(address);
  await act(page);
  await page.waitForLoadState('networkidle');
  const all = [...files.values()];
  return { urls: all.map(({ url }) => url), bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
}

test('the first view is less than 150 KB, compressed, with all that it loads', async () => {
  const { page, done } = await explorer.open({ hash: '#/nowhere' });
  const address = `${explorer.store.url}/ui/?again#/logs`;
  const start = await countBytes(page, address, () =>
    page.getByText('Waiting for the first entry').waitFor(),
  );
  for (const name of [/\/ui\/\?again$/, /main-\w+\.css$/, /start-\w+\.js$/, /main-\w+\.js$/]) {
    assert.ok(
      start.urls.some(url => name.test(url)),
      `${name} is not in ${start.urls}`,
    );
  }
  assert.ok(start.bytes > 50_000 && start.bytes < 150_000, `${start.bytes} bytes of ${start.urls}`);
  const used = await countBytes(page, address, openEditor);
  assert.ok(used.bytes > start.bytes && used.bytes < 300_000, `${used.bytes} bytes of ${used.urls}`);
  await done();
});

test('a list of 1,000 lines with its histogram is less than 150 KB, compressed', async () => {
  const other = await startExplorer();
  try {
    await pushShop(other.store, Date.now());
    const { page, done } = await other.open({ hash: '#/nowhere' });
    const { bytes, urls } = await countBytes(
      page,
      `${other.store.url}/ui/?again${logsHash(SHOP_QUERY)}`,
      async () => {
        await page.getByText('1,000 of 3,420 lines').waitFor();
        await page.locator('.volume-chart:not(.stale) canvas').waitFor();
      },
    );
    assert.ok(bytes > 50_000 && bytes < 150_000, `${bytes} bytes of ${urls}`);
    await done();
  } finally {
    await other.stop();
  }
});

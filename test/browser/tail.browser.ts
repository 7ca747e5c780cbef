/** A live tail as a person uses it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, untilCount, untilFits, untilStill, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  openEditor,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop } from './support/shop.ts';

const TAIL_HASH = `#/tail?${new URLSearchParams({ q: '{app="till"}' })}`;
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
});
after(() => explorer.stop());

let pushed = 0;
/** One push of lines `sale N`, each a millisecond after the one before. */
async function sell(count: number, stream: Record<string, string> = { app: 'till' }): Promise<void> {
  const nowMs = Date.now();
  const values = Array.from({ length: count }, (_, i) => {
    const ns = `${BigInt(nowMs) * 1_000_000n + BigInt(pushed + i)}`;
    return [ns, `sale ${pushed + i}`, { level: (pushed + i) % 5 === 4 ? 'error' : 'info' }] as const;
  });
  pushed += count;
  await push(explorer.store, [{ stream, values: [...values] }]);
}

function untilLast(page: Page, text: string): Promise<void> {
  return page
    .locator('.tail-line .log-text')
    .last()
    .and(page.getByText(text, { exact: true }))
    .waitFor();
}

/** Waits until the list is at its end: it scrolls there after its lines are drawn. */
const untilAtEnd = (page: Page) =>
  eventually(
    () => page.evaluate(AT_END),
    isAtEnd => assert.equal(isAtEnd, true),
  );
const AT_END =
  'document.querySelector(".tail-scroll").scrollTop + document.querySelector(".tail-scroll").clientHeight > document.querySelector(".tail-scroll").scrollHeight - 5';

test('lines come as they are pushed; pause keeps them waiting, clear takes them away', async () => {
  await sell(5);
  const { page, done } = await explorer.open({ hash: '#/tail' });
  await page.getByText('Live tail of a service').waitFor();
  await openEditor(page);
  await page.keyboard.type('{app="till"');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Enter');
  await untilParam(page, 'q', '{app="till"}');
  await page.getByText('Live', { exact: true }).waitFor();
  await untilLast(page, 'sale 4');
  await sell(3);
  await untilLast(page, 'sale 7');
  await untilCount(page.locator('.tail-line.error'), 1);
  await page.locator('main').click({ position: { x: 5, y: 300 } });
  await page.keyboard.press('p');
  await page.getByText('Paused', { exact: true }).waitFor();
  await sell(4);
  await page.getByText('4 waiting').waitFor();
  await untilLast(page, 'sale 7');
  await page.getByRole('button', { name: 'Resume' }).click();
  await untilLast(page, 'sale 11');
  await page.locator('.tail-line').last().getByRole('button').click();
  await page.getByRole('link', { name: 'Open in Logs' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('Waiting for lines').waitFor();
  await sell(1);
  await untilLast(page, 'sale 12');
  await page.getByText('1 line', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped').waitFor();
  await sell(1);
  await page.getByRole('button', { name: 'Start' }).click();
  await untilLast(page, 'sale 13');
  await done();
});

test('the list follows its end until a user scrolls up, and keeps 5,000 lines', async () => {
  const { page, done } = await explorer.open({ hash: TAIL_HASH });
  await page.getByText('Live', { exact: true }).waitFor();
  for (let round = 0; round < 6; round++) {
    const last = `sale ${pushed + 899}`;
    await sell(900);
    await untilLast(page, last);
    await untilAtEnd(page);
  }
  await page.getByText('5,000 lines').waitFor();
  await page.getByText('last 5,000 kept').waitFor();
  await eventually(
    () => page.locator('.tail-line').count(),
    count => assert.ok(count > 0 && count < 120, `${count}`),
  );
  await page.locator('.tail-scroll').hover();
  await page.mouse.wheel(0, -20_000);
  const toEnd = page.getByRole('button', { name: 'Scroll to end' });
  await toEnd.waitFor();
  const middle = () =>
    page.evaluate(
      'document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest(".tail-line")?.textContent',
    );
  await untilStill(page.locator('.tail-line').first());
  const read = await eventually(middle, text => assert.ok(text));
  await sell(100);
  await page.getByRole('button', { name: '100 new lines' }).waitFor();
  await eventually(middle, text => assert.equal(text, read));
  await page.getByRole('button', { name: '100 new lines' }).click();
  await untilLast(page, `sale ${pushed - 1}`);
  await untilAtEnd(page);
  await done();
});

test('a broken connection is reported and opened again; nothing is lost or shown twice', async () => {
  const { page, done } = await explorer.open();
  let cut: (() => void) | undefined;
  await page.routeWebSocket(/\/tail\?/, socket => {
    const server = socket.connectToServer();
    cut = () => {
      server.close();
      socket.close({ code: 1001, reason: 'the server is shutting down' });
    };
  });
  const from = pushed;
  await page.goto(`${explorer.store.url}/ui/#/tail?${new URLSearchParams({ q: '{app="shelf"}' })}`);
  await page.getByText('Live', { exact: true }).waitFor();
  await sell(2, { app: 'shelf' });
  await untilLast(page, `sale ${from + 1}`);
  cut?.();
  await page.getByText('Connection closed: the server is shutting down.', { exact: false }).waitFor();
  await sell(2, { app: 'shelf' });
  await untilLast(page, `sale ${from + 3}`);
  await untilTexts(
    page.locator('.tail-line .log-text'),
    [0, 1, 2, 3].map(i => `sale ${from + i}`),
  );
  await page.getByText('Live', { exact: true }).waitFor();
  await done();
});

test('reports entries that the store dropped, and refusals', async () => {
  const { page, done } = await explorer.open({ expects: /status of 400/, colorScheme: 'dark' });
  await page.routeWebSocket(/\/tail\?/, socket => {
    const labels = { app: 'till' };
    socket.send(
      JSON.stringify({ streams: [], dropped_entries: [1, 2, 3].map(i => ({ timestamp: `${i}`, labels })) }),
    );
  });
  await page.goto(`${explorer.store.url}/ui/${TAIL_HASH}`);
  await page.getByText('3 lines are missing', { exact: false }).waitFor();
  await page.goto(`${explorer.store.url}/ui/#/tail?${new URLSearchParams({ q: '{app="till"} | a = = 1' })}`);
  await page
    .getByRole('alert')
    .getByText(/parse error/)
    .waitFor();
  await page.goto(`${explorer.store.url}/ui/#/tail?${new URLSearchParams({ q: 'rate({app="till"}[1m])' })}`);
  await page
    .getByRole('alert')
    .getByText(/metric query/)
    .waitFor();
  await assertAccessible(page);
  await done();
});

test('looks: light, dark, phone', async () => {
  await pushShop(explorer.store, Date.now());
  const hash = `#/tail?${new URLSearchParams({ q: '{namespace="shop"}' })}`;
  for (const look of [{ colorScheme: 'light' }, { colorScheme: 'dark', viewport: PHONE }] as const) {
    const { page, done } = await explorer.open({ hash, ...look });
    await page.getByText(/^100 lines/).waitFor();
    await page.locator('.tail-line').last().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await push(explorer.store, [
      { stream: { namespace: 'shop' }, values: [[`${Date.now()}000000`, 'one more']] },
    ]);
    await page.getByText('1 waiting').waitFor();
    await assertAccessible(page);
    await screenshot(page, `tail-${look.colorScheme}`);
    if ('viewport' in look) await untilFits(page, PHONE.width);
    await done();
  }
});

test('lines of several services show the service and their message first; raw lines by a key', async () => {
  const stream = (service: string, line: string) => ({
    stream: { service_name: service, app: 'mixed' },
    values: [[`${BigInt(Date.now()) * 1_000_000n}`, line]] as [string, string][],
  });
  await push(explorer.store, [stream('till', '{"msg":"sold","order":7}')]);
  const { page, done } = await explorer.open({
    hash: `#/tail?${new URLSearchParams({ q: '{app="mixed"}' })}`,
  });
  await untilLast(page, 'sold order=7');
  await untilCount(page.locator('.tail-service'), 0);
  await push(explorer.store, [stream('shelf', 'level=info msg="put back" item=lamp')]);
  await untilLast(page, 'put back item=lamp');
  await untilTexts(page.locator('.tail-service'), ['till', 'shelf']);
  await eventually(
    () =>
      page.evaluate(
        `[...document.querySelectorAll('.tail-service .value-dot')].map(dot => getComputedStyle(dot).backgroundColor)`,
      ) as Promise<string[]>,
    colors => assert.equal(new Set(colors).size, 2),
  );
  await page.locator('main').click({ position: { x: 5, y: 300 } });
  await page.keyboard.press('m');
  await untilLast(page, 'level=info msg="put back" item=lamp');
  await page.getByRole('button', { name: 'Raw lines' }).click();
  await untilLast(page, 'put back item=lamp');
  await done();
});

test('with a tenant in the header and no tokens, the store is asked again and again', async () => {
  const other = await startExplorer('auth_enabled: true\nlimits_config: { reject_old_samples: false }');
  try {
    const { page, done } = await other.open({
      hash: `#/tail?${new URLSearchParams({ q: '{app="web"}', tenant: 'acme' })}`,
    });
    await page.getByText('The page polls every 2 s instead', { exact: false }).waitFor();
    const line = (text: string) => [
      {
        stream: { app: 'web' },
        values: [[`${BigInt(Date.now()) * 1_000_000n}`, text]] as [string, string][],
      },
    ];
    await push(other.store, line('a line of acme'), { 'X-Scope-OrgID': 'acme' });
    await push(other.store, line('a line of globex'), { 'X-Scope-OrgID': 'globex' });
    await untilLast(page, 'a line of acme');
    await untilCount(page.locator('.tail-line'), 1);
    await done();
  } finally {
    await other.stop();
  }
});

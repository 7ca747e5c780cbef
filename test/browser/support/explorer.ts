/**
 * The page in a real browser with a separate store. A page object fails its test for every message of the
 * console and every failed request, so that no test needs to check them.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { startStore, type TestStore } from '../../end-to-end/support/store.ts';
import { eventually, WAIT_MS } from './eventually.ts';

const YAML = `auth_enabled: false
limits_config: { reject_old_samples: false, allow_structured_metadata: true, volume_enabled: true }
`;
const AXE = readFileSync(join(import.meta.dirname, '../../../node_modules/axe-core/axe.min.js'), 'utf8');
/** Counts how much moves on the page without a click or a key. Runs before the page's scripts. */
const WATCH = `
globalThis.shifts = [];
const placeOf = ({ x, y, width, height }) => [x, y, width, height].join(' ');
const nameOf = node => (node?.outerHTML ?? node?.textContent ?? '').slice(0, 100);
new PerformanceObserver(list => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (hadRecentInput) continue;
    const moved = sources.map(one => [nameOf(one.node), placeOf(one.previousRect), placeOf(one.currentRect)]);
    shifts.push([value, ...moved]);
  }
}).observe({ type: 'layout-shift', buffered: true });
`;

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

interface OpenOptions {
  /** The route, for example `#/logs?q=...`. Default: none. */
  readonly hash?: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  /** What the console may complain of, because the test wants it. Default: nothing. */
  readonly expects?: RegExp;
  readonly context?: BrowserContextOptions;
}

interface Opened {
  readonly page: Page;
  /** Closes it; throws where the browser complained of anything meanwhile. */
  done(): Promise<void>;
}

/** What the tests need of a store. */
export type ExploredStore = Pick<TestStore, 'url' | 'stop'>;

export interface Explorer {
  readonly store: ExploredStore;
  open(options?: OpenOptions): Promise<Opened>;
  stop(): Promise<void>;
}

/** @param yaml configuration of the store; the default has one tenant */
export async function startExplorer(yaml: string = YAML): Promise<Explorer> {
  return explore(await startStore(yaml));
}

/** Before a store that runs already; it ends with the explorer. */
export async function explore(store: ExploredStore): Promise<Explorer> {
  const endpoint = process.env.LOGBOOM_BROWSER;
  if (endpoint === undefined)
    throw new Error('there is no browser; run npm run test:browser -- PART_OF_A_NAME');
  const browser: Browser = await chromium.connect(endpoint);
  return {
    store,
    open: options => openPage(browser, store.url, options),
    async stop() {
      await browser.close();
      await store.stop();
    },
  };
}

async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<Opened> {
  const { hash = '', colorScheme = 'light', viewport = DESKTOP, expects } = options;
  const context = await browser.newContext({
    colorScheme,
    viewport,
    deviceScaleFactor: 2,
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
    ...options.context,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(`${error}`));
  page.on('request', request => {
    if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url()))
      complaints.push(`a request to elsewhere: ${request.url()}`);
  });
  await page.addInitScript(WATCH);
  await page.goto(`${url}/ui/${hash}`);
  await untilStarted(page);
  return {
    page,
    async done() {
      await context.close();
      const real = complaints.filter(text => expects === undefined || !expects.test(text));
      assert.deepEqual(real, []);
    },
  };
}

/** Waits until the page takes clicks and keys: its frame is painted before its script runs. */
async function untilStarted(page: Page): Promise<void> {
  await page.locator('.frame:not(.before-scripts)').waitFor();
  // Components register keys in effects, which run after the next frame.
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))');
}

/** A picture of the page as it is, for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.LOGBOOM_SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** The route of the log view with a query. */
export function logsHash(query: string, params: Readonly<Record<string, string>> = {}): string {
  return `#/logs?${new URLSearchParams({ q: query, ...params })}`;
}

/** Focuses the text area of the query, and waits until the editor that it loads has replaced it. */
export async function openEditor(page: Page): Promise<Locator> {
  const editor = page.getByRole('textbox', { name: 'LogQL query' });
  await editor.focus();
  await page.locator('.query-editor[data-ready=true]').waitFor();
  return editor;
}

/** Waits until the address has it; with null, until it has none. */
export async function untilParam(page: Page, name: string, value: string | null): Promise<void> {
  // Not by a function in the page: trying one again needs `eval`, which the page's policy forbids.
  await page.waitForURL(({ hash }) => new URLSearchParams(hash.split('?')[1]).get(name) === value);
}

/**
 * A tenth of what counts as good. A word that is a few pixels further left when its number arrives is less, also on
 * a loaded machine, where a page can be painted before all of its HTML is there.
 */
const MAX_SHIFT = 0.01;

/** Fails if something moved that the user did not move. */
export async function assertNoShift(page: Page): Promise<void> {
  const shifts = (await page.evaluate('shifts')) as (readonly [number, ...unknown[]])[];
  const sum = shifts.reduce((total, [value]) => total + value, 0);
  assert.ok(sum <= MAX_SHIFT, JSON.stringify(shifts, undefined, 2));
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly tags: readonly string[];
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** Tags of axe's rules for levels A and AA: `wcag2a`, `wcag21aa`. */
const WCAG_AA = /^wcag\d+a{1,2}$/;

/** Fails if axe finds a violation of WCAG AA, or another that is serious or worse. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE);
  await eventually(
    () => page.evaluate('axe.run().then(found => found.violations)') as Promise<Violation[]>,
    violations => {
      const found = violations.filter(
        ({ impact, tags }) =>
          impact === 'serious' || impact === 'critical' || tags.some(tag => WCAG_AA.test(tag)),
      );
      // As text: a report of nested values omits the difference.
      const report = found.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}\n${failureSummary}`),
      );
      assert.equal(report.join('\n'), '');
    },
  );
}

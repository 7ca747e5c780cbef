/**
 * Page of the explorer in Chromium that reports what a user notices: paints, the time until it can be used,
 * layout shifts, bytes, and frames while its list scrolls.
 *
 * Pitfall: scripts that run in the page are texts, because the page's security policy forbids `eval`, and
 * these files have no types of the DOM.
 */
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';

export interface LoadFigures {
  /** Milliseconds since the navigation began, as the other times. */
  readonly firstByteMs: number;
  readonly firstPaintMs: number;
  /** The query can be typed, and a task that is posted then has run. */
  readonly usableMs: number;
  /** Services of the start page, or the first lines. */
  readonly contentMs: number;
  /** Sum of what exceeds 50 ms in tasks of the main thread. */
  readonly blockedMs: number;
  readonly layoutShift: number;
  /** Compressed bytes of all responses, including API responses, until the network is idle. */
  readonly bytes: number;
}

export interface ScrollFigures {
  /** Rows of one height, or wrapped lines. */
  readonly rows: 'equal' | 'wrapped';
  readonly pxPerFrame: number;
  readonly framesPerSecond: number;
  /** Frames that took more than one and a half times as long as at 60 frames a second. */
  readonly lateFrames: number;
  readonly frames: number;
  /** Main thread time of a frame. */
  readonly taskMs: number;
}

const VIEWPORT = { width: 1440, height: 900 };
const FRAMES = 300;
const FRAME_MS = 1000 / 60;
/**
 * Each new context is a new window, which Chromium builds, with pages for its address bar, while the page
 * would load already. A user types an address into a window that is open.
 */
const WINDOW_MS = 1_000;
/** Bound of waits. */
const WAIT_MS = 60_000;

/** Runs before the page's own scripts. */
const OBSERVE = `
globalThis.measured = { shift: 0, blocked: 0, usable: 0, content: 0 };
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) measured.shift += entry.value;
}).observe({ type: 'layout-shift', buffered: true });
new PerformanceObserver(list => {
  for (const { duration } of list.getEntries()) measured.blocked += duration - 50;
}).observe({ type: 'longtask', buffered: true });
const wanted = { usable: '.query-editor', content: '.log-line, .services li' };
const observer = new MutationObserver(() => {
  for (const [name, selector] of Object.entries(wanted)) {
    if (document.querySelector(selector) === null) continue;
    delete wanted[name];
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { measured[name] = performance.now(); port1.close(); };
    port2.postMessage('');
  }
  if (Object.keys(wanted).length === 0) observer.disconnect();
});
observer.observe(document, { childList: true, subtree: true });
`;

/** @param context keeps files of earlier loads; undefined loads everything */
export async function measureLoad(
  browser: Browser,
  url: string,
  context?: BrowserContext,
): Promise<LoadFigures> {
  const used = context ?? (await browser.newContext({ viewport: VIEWPORT }));
  const page = await used.newPage();
  await page.addInitScript(OBSERVE);
  const network = await used.newCDPSession(page);
  await network.send('Network.enable');
  let bytes = 0;
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.waitForTimeout(WINDOW_MS);
  await page.goto(url);
  await page.locator('.log-line, .services li').first().waitFor({ timeout: WAIT_MS });
  await page.waitForLoadState('networkidle');
  const found = (await page.evaluate(`({
    ...measured,
    firstByte: performance.getEntriesByType('navigation')[0].responseStart,
    firstPaint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  })`)) as Readonly<Record<'firstByte' | 'firstPaint' | 'usable' | 'content' | 'blocked' | 'shift', number>>;
  await (context === undefined ? used.close() : page.close());
  return {
    firstByteMs: found.firstByte,
    firstPaintMs: found.firstPaint,
    usableMs: found.usable,
    contentMs: found.content,
    blockedMs: found.blocked,
    layoutShift: found.shift,
    bytes,
  };
}

/** Page with a list of `rows` lines; rejects if the query has fewer. */
export async function openList(browser: Browser, url: string, rows: number): Promise<Page> {
  const page = await browser.newPage({ viewport: VIEWPORT });
  await page.goto(url);
  await page.locator('.log-line').first().waitFor({ timeout: WAIT_MS });
  for (;;) {
    const [loaded, ended] = (await page.evaluate(`(() => {
      const list = document.querySelector('.logs-scroll');
      list.scrollTop = list.scrollHeight;
      const row = document.querySelector('[role=listitem]');
      return [Number(row.ariaSetSize), document.querySelector('.list-end') !== null];
    })()`)) as [number, boolean];
    if (loaded >= rows) return page;
    if (ended) throw new Error(`the list ends after ${loaded} lines of ${rows}`);
    await page.waitForTimeout(20);
  }
}

/** Wraps the lines of a list, by its key. */
export async function wrapLines(page: Page): Promise<void> {
  await page.keyboard.press('w');
  await page.locator('.log-line.wraps').first().waitFor();
}

/** Scrolls down from the top by the same distance in each frame. */
export async function measureScroll(
  page: Page,
  rows: ScrollFigures['rows'],
  pxPerFrame: number,
): Promise<ScrollFigures> {
  await page.evaluate(`document.querySelector('.logs-scroll').scrollTop = 0`);
  await page.waitForTimeout(500);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const before = await taskSeconds(session);
  const times = (await page.evaluate(`new Promise(done => {
    const list = document.querySelector('.logs-scroll');
    const times = [];
    const frame = at => {
      times.push(at);
      if (times.length > ${FRAMES}) return done(times);
      list.scrollTop += ${pxPerFrame};
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`)) as number[];
  const taskMs = ((await taskSeconds(session)) - before) * 1000;
  await session.detach();
  const durations = times.slice(1).map((at, i) => at - times[i]);
  return {
    rows,
    pxPerFrame,
    framesPerSecond: (FRAMES * 1000) / (times[FRAMES] - times[0]),
    lateFrames: durations.filter(ms => ms > 1.5 * FRAME_MS).length,
    frames: FRAMES,
    taskMs: taskMs / FRAMES,
  };
}

async function taskSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

/**
 * The explorer in Chromium before a store with 260,000 mixed lines of six hours: JSON, logfmt, nginx and stack
 * traces. Figures of time are meaningful only if the machine is idle otherwise, so the load is reported with
 * them.
 */
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, findChromium } from '../../scripts/chromium.mjs';
import { sampleStreams } from '../../ui/src/sample/sample-lines.ts';
import { withStore } from '../store.ts';
import { type Cell, formatTable } from '../table.ts';
import {
  type LoadFigures,
  measureLoad,
  measureScroll,
  openList,
  type ScrollFigures,
  wrapLines,
} from './measured-page.ts';

const CONFIG = resolve(import.meta.dirname, '../explorer.yaml');
const SPAN_MS = 6 * 3_600_000;
/** Copies of the 3,100 sample lines: 260,400 lines. */
const TIMES = 84;
const ROWS = 100_000;
const LINES_OF_A_PUSH = 5_000;
/** The first load compiles; it is not reported. */
const LOADS = 11;
/** Slow reading, a fast wheel, and a dragged scroll bar. */
const PX_PER_FRAME = [60, 400, 3_000];
const LINES = `#/logs?${new URLSearchParams({ q: '{service_name=~".+"}', from: 'now-6h' })}`;
const PAGES: readonly (readonly [name: string, hash: string])[] = [
  ['start page', '#/logs'],
  ['lines', LINES],
];

interface PageLoads {
  readonly page: string;
  /** Loads without and with files in the browser's cache. */
  readonly cache: 'cold' | 'warm';
  readonly loads: readonly LoadFigures[];
}

interface ExplorerFigures {
  readonly cores: number;
  /** Load of the last minute, before and after. */
  readonly load: readonly [before: number, after: number];
  readonly chromium: string;
  readonly pages: readonly PageLoads[];
  readonly scrolls: readonly ScrollFigures[];
}

/** Undefined without Chromium, which is printed. */
export async function runExplorerBench(say: (line: string) => void): Promise<ExplorerFigures | undefined> {
  const executablePath = findChromium(say);
  if (executablePath === undefined) {
    say('SKIPPED: there is no Chromium, and it could not be installed with apt-get as root');
    return undefined;
  }
  return withStore(async ({ server: { url } }) => {
    await pushLines(url);
    const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
    try {
      const [loadBefore] = loadavg();
      const pages: PageLoads[] = [];
      for (const [page, hash] of PAGES) {
        const address = `${url}/ui/${hash}`;
        await measureLoad(browser, address);
        const cold: LoadFigures[] = [];
        for (let i = 0; i < LOADS; i++) cold.push(await measureLoad(browser, address));
        pages.push({ page, cache: 'cold', loads: cold });
        const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
        const warm: LoadFigures[] = [];
        for (let i = 0; i < LOADS + 3; i++) warm.push(await measureLoad(browser, address, context));
        await context.close();
        pages.push({ page, cache: 'warm', loads: warm.slice(3) });
      }
      const list = await openList(browser, `${url}/ui/${LINES}`, ROWS);
      const scrolls: ScrollFigures[] = [];
      for (const pxPerFrame of PX_PER_FRAME) scrolls.push(await measureScroll(list, 'equal', pxPerFrame));
      await wrapLines(list);
      for (const pxPerFrame of PX_PER_FRAME) scrolls.push(await measureScroll(list, 'wrapped', pxPerFrame));
      return {
        cores: cpus().length,
        load: [loadBefore, loadavg()[0]],
        chromium: browser.version(),
        pages,
        scrolls,
      };
    } finally {
      await browser.close();
    }
  }, CONFIG);
}

async function pushLines(url: string): Promise<void> {
  for (const { stream, values } of sampleStreams(Date.now(), { spanMs: SPAN_MS, times: TIMES })) {
    for (let at = 0; at < values.length; at += LINES_OF_A_PUSH) {
      await post(`${url}/loki/api/v1/push`, {
        streams: [{ stream, values: values.slice(at, at + LINES_OF_A_PUSH) }],
      });
    }
  }
  await post(`${url}/flush`, {});
}

async function post(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 204) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

export function explorerTables({ cores, load, chromium: version, pages, scrolls }: ExplorerFigures): string {
  const loads = pages.map(({ page, cache, loads: all }): Cell[] => [
    page,
    cache,
    median(all.map(({ firstByteMs }) => firstByteMs)),
    ...spread(all.map(({ firstPaintMs }) => firstPaintMs)),
    ...spread(all.map(({ usableMs }) => usableMs)),
    ...spread(all.map(({ contentMs }) => contentMs)),
    median(all.map(({ blockedMs }) => blockedMs)),
    Math.max(...all.map(({ layoutShift }) => layoutShift)),
    median(all.map(({ bytes }) => bytes)) / 1024,
  ]);
  const frames = scrolls.map((one): Cell[] => [
    one.rows,
    one.pxPerFrame,
    one.framesPerSecond,
    `${one.lateFrames} of ${one.frames}`,
    one.taskMs,
  ]);
  return [
    `Chromium ${version}, ${cores} cores, load of the last minute ${load.map(one => one.toFixed(2)).join(' to ')}`,
    '',
    formatTable(
      [
        ...['page', 'cache', 'byte ms', 'paint ms', 'max', 'usable ms', 'max', 'content ms', 'max'],
        ...['blocked ms', 'layout shift', 'KiB'],
      ],
      loads,
    ),
    '',
    formatTable(['rows', 'px a frame', 'frames/s', 'late frames', 'main thread ms a frame'], frames),
  ].join('\n');
}

function spread(values: readonly number[]): readonly [median: number, largest: number] {
  return [median(values), Math.max(...values)];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/** The live canary against a store that keeps its promises, and against stores that break one each. */
import { expect, test } from '@jest/globals';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { createCanaryMetrics } from '../../shared/server/canary/canary-metrics.ts';
import {
  type CanaryTail,
  type CanaryTotals,
  isHealthy,
  type LiveCanaryOptions,
  runLiveCanary,
} from '../../shared/server/canary/live-canary.ts';
import type { CanaryAnswer, CanarySend } from '../../shared/server/canary/requests.ts';

interface Entry {
  readonly ns: bigint;
  readonly line: string;
}

interface Faults {
  /** Lines that a query does not return. */
  readonly hidden?: (line: string) => boolean;
  /** Lines that a query returns twice. */
  readonly doubled?: (line: string) => boolean;
  /** Lines that the tail does not show. */
  readonly untailed?: (line: string) => boolean;
  /** Lines that the tail shows twice. */
  readonly tailedTwice?: (line: string) => boolean;
  /**
   * Fails the push with this number, counted from 1, with this status instead of 204; `stored` decides if it
   * is stored nevertheless.
   */
  readonly onPush?: (count: number) => { readonly status: number; readonly stored: boolean } | undefined;
  /** Added to what a metric query counts. */
  readonly miscount?: number;
}

const OPTIONS: LiveCanaryOptions = {
  stream: { job: 'c' },
  intervalMs: 1000,
  lines: 5,
  waitMs: 10_000,
  checkIntervalMs: 5000,
  rememberMs: 3_600_000,
  durationMs: 60_000,
};

async function runWith(faults: Faults, changes: Partial<LiveCanaryOptions> = {}) {
  const { hidden, doubled, untailed, tailedTwice, onPush, miscount = 0 } = faults;
  const clock = virtualClock();
  const stored = new Map<string, Entry>();
  let handlers: Parameters<CanaryTail>[1] | undefined;
  let pushes = 0;
  const answer = (data: object): CanaryAnswer => ({ status: 200, text: JSON.stringify({ data }) });
  const send: CanarySend = async ({ path, query = {}, body }) => {
    if (path.endsWith('/push')) {
      const fault = onPush?.(++pushes);
      if (fault?.stored !== false) {
        const [{ values }] = JSON.parse(body!).streams as { values: [string, string][] }[];
        for (const [ns, line] of values) {
          const again = stored.has(line);
          stored.set(line, { ns: BigInt(ns), line });
          if (untailed?.(line)) continue;
          // A tail shows a push that was sent again: the reader has these lines.
          if (again) handlers?.repeated(line);
          else handlers?.line(line);
          if (tailedTwice?.(line)) handlers?.repeated(line);
        }
      }
      return { status: fault?.status ?? 204, text: 'said' };
    }
    const all = [...stored.values()].filter(({ line }) => !hidden?.(line));
    if (path.endsWith('/query')) {
      const toNs = BigInt(query.time);
      const fromNs = toNs - BigInt(/\[(\d+)ms\]/.exec(query.query)![1]) * 1_000_000n;
      const count = all.filter(({ ns }) => ns > fromNs && ns <= toNs).length + miscount;
      return answer({ result: [{ value: [0, `${count}`] }] });
    }
    const found = all.filter(({ ns }) => ns >= BigInt(query.start) && ns < BigInt(query.end));
    const values = found.flatMap(({ ns, line }) => {
      const value = [`${ns}`, line];
      return doubled?.(line) ? [value, value] : [value];
    });
    expect(values.length).toBeLessThanOrEqual(Number(query.limit));
    return answer({ result: [{ values }] });
  };
  const tail: CanaryTail = (_, given, signal) => {
    handlers = given;
    return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
  const metrics = createCanaryMetrics();
  const notes: string[] = [];
  const note = (text: string) => notes.push(text);
  const parts = { send, tail, clock, ids: seededIds(7), metrics, note };
  const running = runLiveCanary(parts, { ...OPTIONS, ...changes }, new AbortController().signal);
  const totals = await clock.run(running);
  return { totals, notes, text: await metrics.registry.text() };
}

const third = (line: string) => line.endsWith(' 3');

test('a store that keeps its promises is healthy, and its metrics say so', async () => {
  const { totals, notes, text } = await runWith({});
  expect(notes).toEqual([]);
  expect(totals).toMatchObject({ entries: 300, spotChecked: 55, metricTests: 11, retries: 0 });
  expect(isHealthy(totals)).toBe(true);
  expect(text).toContain('logboom_canary_entries_total 300');
  expect(text).toContain('logboom_canary_websocket_entries_total 300');
  expect(text).toContain('logboom_canary_missing_entries_total 0');
  expect(text).toContain('logboom_canary_response_latency_seconds_count 300');
  expect(Number(/metric_test_expected (\d+)/.exec(text)![1])).toBeGreaterThan(200);
});

test.each<[string, Faults, Partial<CanaryTotals>, string]>([
  [
    'queries lose a line of each batch',
    { hidden: third },
    { missing: 60, metricFailures: 11 },
    'canary_missing_entries_total 60',
  ],
  ['queries show lines twice', { doubled: third }, { duplicates: 60 }, 'canary_duplicate_entries_total 60'],
  [
    'the tail loses lines',
    { untailed: third },
    { websocketMissing: 60, missing: 0 },
    'canary_websocket_missing_entries_total 60',
  ],
  [
    'the tail shows lines twice',
    { tailedTwice: third },
    { duplicates: 60 },
    'canary_duplicate_entries_total 60',
  ],
  ['counts are wrong', { miscount: 1 }, { metricFailures: 11 }, 'metric_test_failures_total 11'],
  [
    'a push is refused',
    { onPush: count => (count === 3 ? { status: 400, stored: false } : undefined) },
    { refused: 1, entries: 295, missing: 0, metricFailures: 0 },
    'canary_failed_requests_total{request="push"} 1',
  ],
])('%s', async (_, faults, counted, metric) => {
  const { totals, notes, text } = await runWith(faults);
  expect(totals).toMatchObject(counted);
  expect(isHealthy(totals)).toBe(false);
  expect(notes.length).toBeGreaterThan(0);
  expect(text).toContain(metric);
});

test('an entry that was lost after its batch left the memory of the canary is not missed', async () => {
  const { totals } = await runWith({}, { rememberMs: 5000 });
  expect(totals).toMatchObject({ entries: 300, missing: 0, metricFailures: 0 });
  expect(isHealthy(totals)).toBe(true);
});

test.each([true, false])('pushes that fail are sent again and count once (stored: %s)', async stored => {
  const onPush = (count: number) => (count % 3 === 0 ? { status: 500, stored } : undefined);
  const { totals } = await runWith({ onPush });
  expect(totals.retries).toBeGreaterThan(10);
  expect(totals).toMatchObject({ missing: 0, duplicates: 0, websocketMissing: 0, metricFailures: 0 });
  expect(isHealthy(totals)).toBe(true);
});

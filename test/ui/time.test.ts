import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { bytesText, quantityText } from '../../ui/src/time/quantities.ts';
import { countedWindows, stepFor, stepName, stepText, windowEnds } from '../../ui/src/time/steps.ts';
import {
  describeRange,
  formatTime,
  parseTime,
  resolveRange,
  shiftRange,
  widenRange,
} from '../../ui/src/time/time-range.ts';

const nowMs = Date.UTC(2026, 10, 21, 12);

describe('times', () => {
  test.each([
    ['now', nowMs],
    [' now-90m ', nowMs - 90 * 60_000],
    ['now-2d', nowMs - 48 * MS_PER_HOUR],
    ['1700000000000', 1_700_000_000_000],
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21 14:05', Date.UTC(2026, 10, 21, 14, 5)],
    ['2026-11-21T14:05:06.7Z', Date.UTC(2026, 10, 21, 14, 5, 6, 700)],
    ['2026-02-31', undefined],
    ['2026-11-21 25:00', undefined],
    ['now-5', undefined],
    ['now+5m', undefined],
    ['yesterday', undefined],
    ['', undefined],
  ])('%j', (text, ms) => expect(parseTime(text, { nowMs, utc: true })).toBe(ms));

  test('are read as they were written, in both zones', () => {
    fc.assert(
      fc.property(fc.integer({ min: 946_684_800_000, max: 4_102_444_800_000 }), fc.boolean(), (ms, utc) => {
        const back = parseTime(formatTime(ms, utc), { nowMs, utc });
        // An hour of local time comes twice when summer time ends.
        expect([ms, ms - MS_PER_HOUR, ms + MS_PER_HOUR]).toContain(back);
        if (utc) expect(back).toBe(ms);
      }),
      { numRuns: 100 },
    );
  });
});

describe('ranges', () => {
  test.each([
    ['now-1h', 'now', 'Last hour'],
    ['now-7h', 'now', 'now-7h → now'],
    ['1700000000000', '1700000060000', '2023-11-14 22:13:20 → 22:14:20'],
    ['1700000000000', '1700090000000', '2023-11-14 22:13:20 → 2023-11-15 23:13:20'],
  ])('%s to %s is called %s', (from, to, title) => expect(describeRange({ from, to }, true)).toBe(title));

  test('an empty one is none', () => {
    expect(resolveRange({ from: 'now', to: 'now' }, { nowMs, utc: true })).toBeUndefined();
    expect(resolveRange({ from: 'now-1s', to: 'now' }, { nowMs, utc: true })).toEqual({
      fromMs: nowMs - 1000,
      toMs: nowMs,
    });
  });

  test('a range can be moved and widened', () => {
    const range = { fromMs: nowMs - 2 * MS_PER_HOUR, toMs: nowMs };
    expect(shiftRange(range, -1)).toEqual({ fromMs: nowMs - 3 * MS_PER_HOUR, toMs: nowMs - MS_PER_HOUR });
    expect(widenRange(range, nowMs)).toEqual({ fromMs: nowMs - 4 * MS_PER_HOUR, toMs: nowMs });
    expect(widenRange(shiftRange(range, -1), nowMs)).toEqual({
      fromMs: nowMs - 4 * MS_PER_HOUR,
      toMs: nowMs,
    });
  });
});

test('windows of a step cover the range, and no more than its ends', () => {
  const span = fc.tuple(fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: 1000, max: 1e11 }));
  fc.assert(
    fc.property(span, ([fromMs, width]) => {
      const range = { fromMs, toMs: fromMs + width };
      const stepMs = stepFor(range, 100);
      const ends = windowEnds(range, stepMs);
      expect(ends.fromMs % stepMs).toBe(0);
      expect(ends.fromMs - stepMs).toBeLessThanOrEqual(range.fromMs);
      expect(ends.fromMs).toBeGreaterThan(range.fromMs);
      expect(ends.toMs).toBeGreaterThanOrEqual(range.toMs);
      expect(ends.toMs - stepMs).toBeLessThan(range.toMs);
      expect((ends.toMs - ends.fromMs) / stepMs).toBeLessThanOrEqual(101);
    }),
    { numRuns: 100 },
  );
});

test('counted windows cover each millisecond of a range once, and nothing else', () => {
  const edge = fc.integer({ min: 1, max: 20_000 });
  fc.assert(
    fc.property(edge, edge, fc.constantFrom(1000, 2000, 5000), (fromMs, width, stepMs) => {
      const range = { fromMs, toMs: fromMs + width };
      const { cut, whole } = countedWindows(range, stepMs);
      const firstEnd = windowEnds(range, stepMs).fromMs;
      // (from, end], as LogQL counts.
      const windows = cut.map(({ index, endMs, widthMs }) => ({ index, from: endMs - widthMs, end: endMs }));
      for (let end = whole?.fromMs ?? 1; end <= (whole?.toMs ?? 0); end += stepMs) {
        windows.push({ index: (end - firstEnd) / stepMs, from: end - stepMs, end });
      }
      windows.sort((a, b) => a.index - b.index);
      expect(windows.map(({ index }) => index)).toEqual(windows.map((_, i) => i));
      // [from, to), as lists of entries have it.
      expect(windows[0].from).toBe(range.fromMs - 1);
      expect(windows[windows.length - 1].end).toBe(range.toMs - 1);
      expect(windows.slice(1).map(({ from }) => from)).toEqual(windows.slice(0, -1).map(({ end }) => end));
      for (const { from, end } of windows) expect(end).toBeGreaterThan(from);
    }),
    { numRuns: 300 },
  );
});

test('windows between the first and the last keep whole minutes, which the store counts without reading', () => {
  const { whole } = countedWindows({ fromMs: 90_001, toMs: 900_500 }, 60_000);
  expect(whole).toEqual({ fromMs: 180_000, toMs: 900_000 });
});

test('steps and sizes have texts for readers', () => {
  expect([1000, 60_000, 7_200_000, 86_400_000].map(stepName)).toEqual(['1 s', '1 min', '2 h', '1 d']);
  expect([500, 90_000].map(stepText)).toEqual(['500ms', '90s']);
  expect([0, 999, 1500, 123_456, 5e12].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.5 kB',
    '123 kB',
    '5.0 TB',
  ]);
  expect([0, 0.5, 0.59167, 1234.5678, 1_234_567, 1e15, 1e-7, Number.NaN].map(quantityText)).toEqual([
    '0',
    '0.5',
    '0.5917',
    '1,234.6',
    '1,234,567',
    '1.000e+15',
    '1.000e-7',
    'NaN',
  ]);
});

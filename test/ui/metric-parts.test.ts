/** Parts of metric views that need no browser: heat maps, legends, units, and live lines. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ChartSeries, legendText } from '../../ui/src/components/chart-model.ts';
import { heatModel, heatShare } from '../../ui/src/components/heat-map-model.ts';
import { MAX_HEAT_ROWS } from '../../ui/src/components/heat-map-size.ts';
import { liveRows } from '../../ui/src/lines/live-rows.ts';
import type { LogRow } from '../../ui/src/lines/rows.ts';
import { chosenUnit } from '../../ui/src/logql/unit.ts';
import { durationText, UNIT_TEXTS } from '../../ui/src/time/quantities.ts';
import { paramsOf, stateOf } from '../../ui/src/views/logs/logs-state.ts';

const series = (label: string, values: (number | null)[]): ChartSeries => ({
  label,
  labels: {},
  color: '--series-1',
  values,
});

describe('a heat map', () => {
  test('has the largest series first, and a scale from zero', () => {
    const model = heatModel([series('a', [1, null]), series('b', [5, 3]), series('c', [null, null])]);
    expect(model).toEqual({
      rows: [
        { label: 'b', values: [5, 3] },
        { label: 'a', values: [1, null] },
        { label: 'c', values: [null, null] },
      ],
      left: 0,
      min: 0,
      max: 5,
    });
  });

  test('orders buckets by their number, and drops the smallest of many', () => {
    expect(
      heatModel([series('10', [9]), series('2', [1]), series('100', [3])]).rows.map(({ label }) => label),
    ).toEqual(['100', '10', '2']);
    const many = Array.from({ length: MAX_HEAT_ROWS + 5 }, (_, i) => series(`s${i}`, [i]));
    const { rows, left } = heatModel(many);
    expect([rows.length, left, rows[0].label]).toEqual([MAX_HEAT_ROWS, 5, `s${MAX_HEAT_ROWS + 4}`]);
  });

  test('has a share of 0 to 1 that rises with the value', () => {
    const value = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(value, value, (a, b) => {
        const scale = { min: 0, max: 1e6 };
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(heatShare(low, scale)).toBeLessThanOrEqual(heatShare(high, scale));
        expect(heatShare(high, scale)).toBeLessThanOrEqual(1);
        expect(heatShare(low, scale)).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(heatShare(3, { min: 0, max: 0 })).toBe(0);
  });
});

test.each([
  ['', { app: 'a' }, ''],
  ['{{app}} in {{ region }}', { app: 'a', region: 'eu' }, 'a in eu'],
  ['{{none}}!', {}, '!'],
])('legend %s', (legend, labels: Record<string, string>, text) => {
  expect(legendText(legend, labels)).toBe(text);
});

test.each([
  [0, '0 s'],
  [0.00035, '350 µs'],
  [0.0125, '12.5 ms'],
  [-1.5, '-1.5 s'],
  [600, '10 min'],
  [86_400, '24 h'],
  [Number.POSITIVE_INFINITY, '+Inf'],
])('%d seconds', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test('a unit is chosen, or derived from all queries', () => {
  const [bytes, rate] = ['sum(bytes_rate({a="b"}[1m]))', 'sum(rate({a="b"}[1m]))'];
  expect(chosenUnit('auto', [bytes])).toBe('bytes');
  expect(chosenUnit('auto', [bytes, rate])).toBe('number');
  expect(chosenUnit('percent', [bytes])).toBe('percent');
  expect(UNIT_TEXTS.percent(0.125)).toBe('12.5%');
});

test('the address keeps further queries, unit and refresh, and drops invalid ones', () => {
  const params = { q: 'a', more: '["b","c"]', unit: 'seconds', refresh: '30', live: '1', chart: 'heat' };
  const state = stateOf(params);
  expect(state).toMatchObject({ more: ['b', 'c'], unit: 'seconds', refresh: 30, live: true, chart: 'heat' });
  expect(paramsOf(state)).toMatchObject(params);
  expect(stateOf({ more: '{', unit: 'x', refresh: '31', live: 'x' })).toMatchObject({
    ...{ more: [], unit: 'auto', refresh: 0, live: false },
  });
  expect(stateOf({ more: JSON.stringify([1, 'a', 'b', 'c', 'd', 'e', 'x'.repeat(9000)]) }).more).toEqual([
    ...['a', 'b', 'c', 'd'],
  ]);
});

describe('live lines', () => {
  const row = (ns: string, line: string): LogRow => ({
    ...{ key: `${ns}${line}`, ns, ms: 0, line, stream: {}, metadata: {}, parsed: {}, level: 'info' },
  });
  const lines = (rows: readonly LogRow[]) => rows.map(({ line }) => line);

  test('are on top of the loaded ones, each once, the newest first', () => {
    const loaded = [row('30', 'c'), row('20', 'b')];
    const tailed = [row('10', 'a'), row('20', 'b'), row('30', 'c'), row('30', 'c2'), row('40', 'd')];
    expect(lines(liveRows(tailed, loaded))).toEqual(['d', 'c2', 'c', 'b']);
    expect(liveRows(tailed.slice(0, 3), loaded)).toBe(loaded);
    expect(lines(liveRows(tailed.slice(0, 2), []))).toEqual(['b', 'a']);
  });

  test('are the same with metadata among the labels', () => {
    const loaded = [{ ...row('30', 'c'), stream: { app: 'a' }, metadata: { b: '1' } }];
    expect(liveRows([{ ...row('30', 'c'), stream: { b: '1', app: 'a' } }], loaded)).toBe(loaded);
  });

  test('have unique keys', () => {
    const rows = liveRows([row('40', 'd'), row('40', 'd')], [row('30', 'c')]);
    expect(rows[0].key).toMatch(/^live\//);
  });
});

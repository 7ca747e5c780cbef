import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CHART_KINDS, REFRESH_SECONDS, UNITS } from '../../shared/base/model/board.ts';
import { formatRoute, parseRoute } from '../../ui/src/state/route.ts';
import { COMPARISONS, paramsOf, stateOf } from '../../ui/src/views/logs/logs-state.ts';

describe('the address', () => {
  test.each([
    ['', { view: 'logs', params: {} }],
    ['#/', { view: 'logs', params: {} }],
    ['#rules', { view: 'rules', params: {} }],
    ['#/logs?q=%7Ba%3D%22b%22%7D&from=now-1h', { view: 'logs', params: { q: '{a="b"}', from: 'now-1h' } }],
    ['#/logs?q=%zz', { view: 'logs', params: { q: '%zz' } }],
  ])('%j', (hash, route) => expect(parseRoute(hash)).toEqual(route));

  test('is read as it was written', () => {
    const param = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,6}$/),
      fc.string({ minLength: 1, unit: 'binary' }),
      {
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(param, params => {
        expect(parseRoute(formatRoute({ view: 'logs', params }))).toEqual({ view: 'logs', params });
      }),
      { numRuns: 50 },
    );
  });
});

test('the state of the log view is read as it was written, and defaults are not written', () => {
  const text = fc.string();
  const state = fc.record({
    text,
    range: fc.record({
      from: fc.constantFrom('now-1h', 'now-5m', '1700000000000'),
      to: fc.constantFrom('now', '1700000001000'),
    }),
    order: fc.constantFrom('newest' as const, 'oldest' as const),
    chart: fc.constantFrom(...CHART_KINDS),
    unit: fc.constantFrom(...UNITS),
    more: fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }),
    refresh: fc.constantFrom(...REFRESH_SECONDS),
    live: fc.boolean(),
    compare: fc.constantFrom(...COMPARISONS),
    columns: text,
  });
  fc.assert(
    fc.property(state, one => {
      const { params } = parseRoute(formatRoute({ view: 'logs', params: paramsOf(one) }));
      expect(stateOf(params)).toEqual(one);
    }),
    { numRuns: 50 },
  );
  expect(formatRoute({ view: 'logs', params: paramsOf(stateOf({})) })).toBe('#/logs');
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { secondChanges, secondParams } from '../../ui/src/state/second-pane.ts';

describe('the second of two queries', () => {
  test('has its own parameters, and the time range of the first until it gets one', () => {
    const all = { q: 'a', from: 'now-6h', cols: 'x', split: '1', q2: 'b' };
    expect(secondParams(all)).toEqual({ q: 'b', from: 'now-6h' });
    expect(secondParams({ ...all, from2: 'now-1d' })).toEqual({ q: 'b', from: 'now-1d' });
    expect(secondParams({ ...all, to2: 'now-5m' })).toEqual({ q: 'b', to: 'now-5m' });
  });

  test('names no range that the first has too, and its default if the first has another', () => {
    expect(secondChanges({ q: 'b', from: 'now-6h', to: '' }, { from: 'now-6h' })).toEqual({
      q2: 'b',
      from2: '',
      to2: '',
    });
    expect(secondChanges({ from: '', to: '' }, { from: 'now-6h' })).toEqual({ from2: 'now-1h', to2: 'now' });
    expect(secondChanges({ cols: 'x' }, { from: 'now-6h' })).toEqual({ cols2: 'x' });
  });

  test('reads the range that it wrote, for any range of the first', () => {
    const time = fc.constantFrom('', 'now-1h', 'now-6h', 'now-5m', 'now');
    const named = (params: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ''));
    fc.assert(
      fc.property(time, time, time, time, (from, to, from2, to2) => {
        const all = named({ from, to });
        const read = secondParams({ ...all, ...named(secondChanges({ from: from2, to: to2 }, all)) });
        expect([read.from ?? 'now-1h', read.to ?? 'now']).toEqual([from2 || 'now-1h', to2 || 'now']);
      }),
    );
  });
});

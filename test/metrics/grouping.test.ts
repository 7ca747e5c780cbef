import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels, type Labels, labelsOf } from '../../shared/base/model/labels.ts';
import { labelsKey, SeriesIndex } from '../../shared/execution/metrics/grouping.ts';
import { by, parseLabels, without } from './trees.ts';

const tableOf = (...sets: string[]) => ({
  count: sets.length,
  labelsOf: (series: number): Labels => parseLabels(sets[series]),
});

describe('SeriesIndex', () => {
  test('gives tables of their own numbering one numbering', () => {
    const index = new SeriesIndex();
    expect([...index.mapOf(tableOf('a=1', 'a=2'))]).toEqual([0, 1]);
    expect([...index.mapOf(tableOf('a=2', 'a=3', 'a=1'))]).toEqual([1, 2, 0]);
    expect([index.count, formatLabels(index.labelsOf(2))]).toEqual([3, '{a="3"}']);
  });

  test('groups', () => {
    const grouped = new SeriesIndex(by('a'));
    expect([...grouped.mapOf(tableOf('a=1,b=1', 'a=1,b=2', 'b=1'))]).toEqual([0, 0, 1]);
    expect([formatLabels(grouped.labelsOf(0)), formatLabels(grouped.labelsOf(1))]).toEqual(['{a="1"}', '{}']);
    expect([...new SeriesIndex(without('b')).mapOf(tableOf('a=1,b=1', 'a=1,b=2', 'a=2'))]).toEqual([0, 0, 1]);
  });

  test('extends the map of a table that has grown', () => {
    const index = new SeriesIndex();
    const map = index.mapOf(tableOf('a=1'));
    expect(index.mapOf(tableOf('a=1'), map)).toBe(map);
    expect([...index.mapOf(tableOf('a=1', 'a=2', 'a=1'), map)]).toEqual([0, 1, 0]);
  });
});

test('labelsKey tells label sets apart as their text does', () => {
  const sets = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 })).map(labelsOf);
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      expect(labelsKey(a) === labelsKey(b)).toBe(formatLabels(a) === formatLabels(b));
    }),
  );
  const tricky = parseLabels('a=b1:c,d=e');
  expect(labelsKey(tricky)).not.toBe(labelsKey(parseLabels('a=b,c=d')));
});

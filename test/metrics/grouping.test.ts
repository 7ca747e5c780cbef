import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { labelsKey } from '../../shared/execution/metrics/grouping.ts';
import { parseLabels } from './trees.ts';

test('labelsKey distinguishes label sets as their text does', () => {
  const sets = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 })).map(labelsOf);
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      expect(labelsKey(a) === labelsKey(b)).toBe(formatLabels(a) === formatLabels(b));
    }),
  );
  const tricky = parseLabels('a=b1:c,d=e');
  expect(labelsKey(tricky)).not.toBe(labelsKey(parseLabels('a=b,c=d')));
});

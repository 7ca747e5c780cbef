import { expect, test } from '@jest/globals';
import { RowElements } from '../../ui/src/components/row-elements.ts';

test('a row keeps its element; rows that all are others reuse the elements', () => {
  const elements = new RowElements();
  expect(elements.numbersFor(['a', 'b', 'c'])).toEqual([0, 1, 2]);
  expect(elements.numbersFor(['b', 'c', 'd'])).toEqual([1, 2, 3]);
  expect(elements.numbersFor(['x', 'y', 'z', 'u'])).toEqual([1, 2, 3, 4]);
  expect(elements.numbersFor(['p'])).toEqual([1]);
  expect(elements.numbersFor([])).toEqual([]);
  expect(elements.numbersFor(['q', 'r'])).toEqual([5, 6]);
});

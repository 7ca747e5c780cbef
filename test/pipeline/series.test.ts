import { expect, test } from '@jest/globals';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { Series } from '../../shared/execution/pipeline/series.ts';

test('more series than memory allows are refused', () => {
  const series = new Series(100_000);
  const add = (name: string, length: number) => series.numberOf(labelsOf({ [name]: 'x'.repeat(length) }));
  for (let i = 0; i < 100; i++) expect(add('a', 10_000)).toBe(0);
  expect(() => add('b', 50_000)).toThrow(BadRequestError);
  const small = new Series(100_000);
  expect(() => {
    for (let i = 0; i < 1000; i++) small.numberOf(labelsOf({ a: String(i) }));
  }).toThrow('needs more than 100000 bytes of memory');
});

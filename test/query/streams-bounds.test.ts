/** A response contains a bounded number of streams. */
import { expect, test } from '@jest/globals';
import { checkFound, MAX_FOUND } from '../../shared/read/query/stream-presence.ts';
import { LabelNames, LabelValues } from '../../shared/read/query/streams-query.ts';

const MESSAGE =
  'the query matches too many values (limit: 300000); consider adding more specific stream selectors or reducing the time range';

test('a million values of a label are refused, but the label names of a million streams are not', () => {
  const values = new LabelValues('id');
  const names = new LabelNames();
  let refusedAt = 0;
  for (let i = 0; i < 1_000_000 && refusedAt === 0; i++) {
    const stream = { labels: [{ name: 'id', value: `${i}` }], text: '' };
    names.add(stream);
    try {
      values.add(stream);
    } catch (error) {
      expect(error).toMatchObject({ status: 400, message: MESSAGE });
      refusedAt = i + 1;
    }
  }
  expect(refusedAt).toBe(MAX_FOUND + 1);
  expect(names.list()).toEqual(['id']);
});

test('too many streams are refused', () => {
  expect(() => checkFound(MAX_FOUND, 'streams')).not.toThrow();
  expect(() => checkFound(MAX_FOUND + 1, 'streams')).toThrow(
    'the query matches too many streams (limit: 300000); ',
  );
});

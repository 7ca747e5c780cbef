import { expect, test } from '@jest/globals';
import { lazily } from '../../shared/base/model/lazily.ts';

test('makes the value on first use, once, also if it is undefined', () => {
  let made = 0;
  const value = lazily(() => {
    made++;
    return undefined;
  });
  expect(made).toBe(0);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(made).toBe(1);
});

test('makes the value again after a failure', () => {
  let tries = 0;
  const value = lazily(() => {
    if (++tries === 1) throw new Error('not yet');
    return 'made';
  });
  expect(value).toThrow('not yet');
  expect(value()).toBe('made');
});

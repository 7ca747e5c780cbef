import { expect, test } from '@jest/globals';
import { PushBudget } from '../../shared/ingest/push-budget.ts';
import { ThrottledError } from '../../shared/ports/throttled.ts';

test('pushes share a bound, a push alone may pass it, and all is given back', () => {
  const budget = new PushBudget(100);
  const large = budget.open();
  large.take(90);
  large.take(90);
  const small = budget.open();
  expect(() => small.take(1)).toThrow(ThrottledError);
  large.release();
  large.release();
  small.take(60);
  const third = budget.open();
  third.take(40);
  expect(() => third.take(1)).toThrow(ThrottledError);
  third.release();
  small.take(41);
});

import { describe, expect, test } from '@jest/globals';
import { ANSWER_WITHIN_MS, type DeadlineOptions, deadlineMs, GRACE_MS } from '../../functions/deadline.ts';

const AT = { nowMs: 1_000_000, receivedMs: 1_000_000, remainingMs: 60_000 };

describe('deadlineMs', () => {
  test.each<[string, Partial<DeadlineOptions>, number]>([
    ['the gateway', {}, 28_000],
    ['a start-up of 3 s counts', { receivedMs: 997_000 }, 25_000],
    ['late already', { receivedMs: 972_000 }, 0],
    ['a time of receipt in the future is another clock', { receivedMs: 1_060_000 }, 28_000],
    ['so is one that the gateway would have given up on', { receivedMs: 900_000 }, 28_000],
    ['none', { receivedMs: undefined }, 28_000],
    ['the function ends first', { remainingMs: 9_000 }, 8_000],
    ['the function ends now', { remainingMs: 500 }, 0],
  ])('%s', (_, given, want) => {
    expect(deadlineMs({ ...AT, ...given })).toBe(want);
  });

  test('answers a late request before the gateway gives up', () => {
    expect(ANSWER_WITHIN_MS + GRACE_MS).toBeLessThan(29_000);
  });
});

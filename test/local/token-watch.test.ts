import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type TokenWatch, watchTokens } from '../../local/token-watch.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import { UnauthenticatedError } from '../../shared/server/auth/errors.ts';
import { VERIFIED_MS } from '../../shared/server/auth/token-verifier.ts';

const asked: string[] = [];
const ended: string[] = [];
const ends = new Map<string, Error>();
let watch: TokenWatch;
beforeEach(() => {
  jest.useFakeTimers();
  for (const list of [asked, ended]) list.splice(0);
  ends.clear();
  watch = watchTokens({
    verifier: {
      checkStillGood: async id => {
        asked.push(id);
        const error = ends.get(id);
        if (error !== undefined) throw error;
      },
    },
    end: async (id, reason) => {
      ended.push(`${id}: ${reason}`);
      watch.remove(id);
    },
    log: createLog('silent'),
  });
});
afterEach(() => {
  watch.stop();
  jest.useRealTimers();
});

const pass = () => jest.advanceTimersByTimeAsync(VERIFIED_MS);

test('connections end with their token, all of them and no others; each token is looked up once', async () => {
  watch.add('one', 'good');
  watch.add('two', 'bad');
  watch.add('three', 'bad');
  await pass();
  expect([asked, ended]).toEqual([['good', 'bad'], []]);
  ends.set('bad', new UnauthenticatedError('the token has been revoked'));
  await pass();
  expect(ended).toEqual(['two: the token has been revoked', 'three: the token has been revoked']);
  await pass();
  expect(asked).toEqual(['good', 'bad', 'good', 'bad', 'good']);
});

test('a table that fails ends no connection, and closed ones are not looked up', async () => {
  watch.add('one', 'a');
  watch.add('two', 'b');
  watch.remove('two');
  watch.remove('never there');
  ends.set('a', new Error('away'));
  await pass();
  expect([asked, ended]).toEqual([['a'], []]);
});

import { expect, test } from '@jest/globals';
import { ThreadLostError, ThreadMemoryError } from '../../../local/threads/thread-errors.ts';
import { TryAgain } from '../../../local/threads/try-again.ts';
import { BadRequestError } from '../../../shared/base/model/errors.ts';

const forever = new AbortController().signal;
const lost = () => new ThreadLostError('ended');
const memory = () => new ThreadMemoryError('too small');
const nextTurn = () => new Promise(resolve => setImmediate(resolve));

/** Fails with the errors first, then answers. */
function call(errors: readonly Error[]) {
  let tries = 0;
  return {
    run: async () => {
      const error = errors[tries++];
      if (error !== undefined) throw error;
      return 'answer';
    },
    get tries() {
      return tries;
    },
  };
}

test.each<[string, readonly Error[], number, unknown]>([
  ['answered', [], 1, 'answer'],
  ['lost once', [lost()], 2, 'answer'],
  ['out of memory with another', [memory()], 2, 'answer'],
  [
    'lost twice',
    [memory(), lost()],
    2,
    { status: 503, message: expect.stringContaining('was restarted while it processed the request') },
  ],
  [
    'out of memory alone',
    [lost(), memory()],
    2,
    { status: 400, message: expect.stringContaining('more memory') },
  ],
  ['refused', [new BadRequestError('no')], 1, { status: 400, message: 'no' }],
  ['lost, then refused', [lost(), new BadRequestError('no')], 2, { status: 400, message: 'no' }],
])('a call that is %s', async (_, errors, tries, expected) => {
  const one = call(errors);
  const outcome = await new TryAgain().run(one.run, forever).catch((error: unknown) => error);
  if (typeof expected === 'string') expect(outcome).toBe(expected);
  else expect(outcome).toMatchObject(expected as object);
  expect(one.tries).toBe(tries);
});

test('calls are retried in sequence, and canceled ones end immediately', async () => {
  const again = new TryAgain();
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const losing = (name: string, signal = forever) => {
    let isFirst = true;
    return again.run(async () => {
      if (isFirst) {
        isFirst = false;
        throw lost();
      }
      order.push(name);
      await new Promise<void>(resolve => ends.push(resolve));
      return name;
    }, signal);
  };
  const leaving = new AbortController();
  const [a, b, c] = [losing('a'), losing('b', leaving.signal), losing('c')];
  await nextTurn();
  expect(order).toEqual(['a']);
  const reason = new Error('the client disconnected');
  leaving.abort(reason);
  await expect(b).rejects.toBe(reason);
  expect(order).toEqual(['a']);
  ends[0]();
  expect(await a).toBe('a');
  await nextTurn();
  expect(order).toEqual(['a', 'c']);
  ends[1]();
  expect(await c).toBe('c');
});

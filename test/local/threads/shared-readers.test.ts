import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  forgetLost,
  haveAllBegunIn,
  newEpoch,
  sharedReaders,
  ThreadReaders,
} from '../../../local/threads/shared-readers.ts';

test('an epoch waits for readers of all threads that began before it, and for no other', () => {
  const shared = sharedReaders(2);
  const [one, two] = [new ThreadReaders(shared, 0), new ThreadReaders(shared, 1)];
  const endOfOne = one.begin();
  const endOfTwo = two.begin();
  const epoch = newEpoch(shared);
  const later = one.begin();
  expect(haveAllBegunIn(shared, epoch)).toBe(false);
  endOfOne();
  expect(haveAllBegunIn(shared, epoch)).toBe(false);
  endOfTwo();
  expect(haveAllBegunIn(shared, epoch)).toBe(true);
  expect(haveAllBegunIn(shared, newEpoch(shared))).toBe(false);
  later();
  // A second call changes nothing.
  later();
  expect(haveAllBegunIn(shared, newEpoch(shared))).toBe(true);
});

test('a reader that fails has ended, and a thread that is lost reads nothing', async () => {
  const shared = sharedReaders(1);
  const readers = new ThreadReaders(shared, 0);
  await expect(readers.during(async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(haveAllBegunIn(shared, newEpoch(shared))).toBe(true);
  readers.begin();
  expect(haveAllBegunIn(shared, newEpoch(shared))).toBe(false);
  forgetLost(shared, 0);
  expect(haveAllBegunIn(shared, newEpoch(shared))).toBe(true);
});

test('property: all have begun in an epoch exactly when no open reader is older', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), thread: fc.nat(2) }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('epoch' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const shared = sharedReaders(3);
      const threads = [0, 1, 2].map(index => new ThreadReaders(shared, index));
      const open: { readonly at: number; readonly end: () => void }[] = [];
      const epochs: { readonly at: number; readonly epoch: number }[] = [];
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'begin') open.push({ at, end: threads[one.thread].begin() });
        else if (one.kind === 'epoch') epochs.push({ at, epoch: newEpoch(shared) });
        else if (open.length > 0) open.splice(one.which % open.length, 1)[0].end();
        for (const { at: since, epoch } of epochs) {
          expect(haveAllBegunIn(shared, epoch)).toBe(open.every(reader => reader.at > since));
        }
      }
    }),
  );
});

import { expect, test } from '@jest/globals';
import { CallWidth } from '../../shared/aws/call-width.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';

const forever = new AbortController().signal;
const turn = () => new Promise(resolve => setImmediate(resolve));

test('calls that are refused together halve the width once, and responses increase it', async () => {
  const clock = virtualClock(0);
  const width = new CallWidth(8, clock);
  for (let i = 0; i < 8; i++) await width.enter(forever);
  const order: number[] = [];
  for (const i of [1, 2, 3, 4]) void width.enter(forever).then(() => order.push(i));
  for (let i = 0; i < 3; i++) width.leave('refused');
  await turn();
  // The first of them found seven others running, and the two behind it change nothing.
  expect([width.current, order]).toEqual([7, [1, 2]]);
  for (let i = 0; i < 2; i++) width.leave('other');
  await turn();
  expect(order).toEqual([1, 2, 3, 4]);
  await clock.advance(100);
  for (let i = 0; i < 2; i++) width.leave('refused');
  expect(width.current).toBe(6);
  for (let i = 0; i < 5; i++) width.leave('answered');
  for (let i = 0; i < 20; i++) {
    await width.enter(forever);
    width.leave('answered');
  }
  expect(width.current).toBe(8);
});

test('one refused call of an idle function leaves half of the width', async () => {
  const width = new CallWidth(200, virtualClock(0));
  await width.enter(forever);
  width.leave('refused');
  expect(width.current).toBe(100);
});

test('few refusals among many calls do not change the width, many do', async () => {
  const clock = virtualClock(0);
  const width = new CallWidth(100, clock);
  for (let i = 0; i < 60; i++) await width.enter(forever);
  for (let i = 0; i < 3; i++) width.leave('refused');
  expect(width.current).toBe(100);
  await clock.advance(100);
  for (let i = 0; i < 3; i++) width.leave('refused');
  expect(width.current).toBe(54);
});

test('the width stays within its limits, and one call can always run', async () => {
  const clock = virtualClock(0);
  const width = new CallWidth(2, clock);
  for (let i = 0; i < 20; i++) {
    await width.enter(forever);
    width.leave('answered');
  }
  expect(width.current).toBe(2);
  for (let i = 0; i < 20; i++) {
    await width.enter(forever);
    width.leave('refused');
    await clock.advance(1000);
  }
  expect(width.current).toBe(1);
});

test('a call whose query ends while it waits leaves the queue', async () => {
  const width = new CallWidth(1, virtualClock(0));
  await width.enter(forever);
  const gone = new AbortController();
  const waiting = width.enter(gone.signal);
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  width.leave('answered');
  await width.enter(forever);
});

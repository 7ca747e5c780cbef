import { expect, test } from '@jest/globals';
import { RequestBoard } from '../../shared/query/request-board.ts';

/** The side of the thread that serves and that of another, over one memory; time passes where a test says so. */
function boards() {
  let atMs = 1_700_000_000_000;
  const nowMs = () => atMs;
  const serving = new RequestBoard({ nowMs });
  let lettings = 0;
  const letGo = () => void lettings++;
  const other = new RequestBoard({ nowMs, memory: serving.memory, letGo });
  return {
    serving,
    other,
    lettings: () => lettings,
    pass(ms: number): void {
      atMs += ms;
    },
  };
}

test('a piece waits while a request is under way, some times what the one before took', () => {
  const { serving, other, pass } = boards();
  other.note(30);
  other.note(3);
  expect(other.waitMs(8)).toBe(0);
  const end = serving.begin();
  expect(other.waitMs(8)).toBe(24);
  pass(10);
  expect(other.waitMs(8)).toBe(14);
  pass(14);
  expect(other.waitMs(8)).toBe(0);
  other.note(3);
  expect(other.waitMs(8)).toBe(24);
  end();
  expect(other.waitMs(8)).toBe(0);
});

test('a long piece is not paid for in full, and an old request does not count', () => {
  const { serving, other, pass } = boards();
  other.note(100);
  serving.begin();
  expect(other.waitMs(8)).toBe(40);
  pass(30);
  other.note(100);
  expect(other.waitMs(8)).toBe(20);
  pass(20);
  other.note(100);
  expect(other.waitMs(8)).toBe(0);
  // The young one is not waited for longer for the old one's sake.
  serving.begin();
  expect(other.waitMs(8)).toBe(40);
});

test('requests are over when each has ended, and each ends once', () => {
  const { serving, other } = boards();
  other.note(8);
  other.note(2);
  const [first, second] = [serving.begin(), serving.begin()];
  first();
  first();
  expect(other.waitMs(4)).toBe(8);
  second();
  expect(other.waitMs(4)).toBe(0);
});

test('a thread waits no longer than it has worked', async () => {
  const { serving, other, pass } = boards();
  other.note(10);
  serving.begin();
  expect(other.waitMs(8)).toBe(10);
  const resting = other.rest(1);
  pass(7);
  await resting;
  expect(other.waitMs(8)).toBe(3);
  other.note(4);
  expect(other.waitMs(8)).toBe(7);
  for (let i = 0; i < 100; i++) other.note(4);
  expect(other.waitMs(100)).toBe(40);
});

test('a rest ends with the last request, or with its time', async () => {
  const { serving, other } = boards();
  await other.rest(60_000);
  const [first, second] = [serving.begin(), serving.begin()];
  let isOver = false;
  const resting = other.rest(60_000).then(() => {
    isOver = true;
  });
  first();
  await new Promise(resolve => setImmediate(resolve));
  expect(isOver).toBe(false);
  second();
  await resting;
  serving.begin();
  await other.rest(1);
});

test('while requests come, a thread lets go of its core after each slice of work', () => {
  const { serving, other, pass, lettings } = boards();
  other.note(5);
  expect(lettings()).toBe(0);
  serving.begin()();
  for (let i = 0; i < 4; i++) other.note(0.5);
  expect(lettings()).toBe(1);
  other.note(0.5);
  other.note(4);
  expect(lettings()).toBe(2);
  pass(1001);
  other.note(4);
  expect(lettings()).toBe(2);
});

test('letting go by itself ends', () => {
  const board = new RequestBoard();
  board.begin()();
  board.note(2);
  expect(board.waitMs(1)).toBe(0);
});

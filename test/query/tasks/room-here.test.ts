/** Who else wants a thread decides how much of a query is scanned in it. */
import { beforeEach, expect, test } from '@jest/globals';
import { usualRoom, WantedRoom } from '../../../shared/query/tasks/room-here.ts';

const USUAL = 16 * 1024 * 1024;
const WANTED = 2 * 1024 * 1024;

let nowMs = 0;
let isPressed = false;
let room: WantedRoom;

beforeEach(() => {
  nowMs = 1_000_000;
  isPressed = false;
  room = new WantedRoom({ isPressed: () => isPressed, nowMs: () => nowMs });
});

test('a tenant that is alone has the usual room, however much it asks', () => {
  expect(room.of('a', USUAL)).toBe(USUAL);
  for (let i = 0; i < 5; i++) room.note('a');
  expect(room.of('a', USUAL)).toBe(USUAL);
  expect(room.of('a', Infinity)).toBe(Infinity);
});

test('another tenant leaves less of it to each, for five seconds', () => {
  room.note('a');
  room.note('b');
  room.note('b');
  for (const tenant of ['a', 'b', 'c', 'a|b']) expect(room.of(tenant, USUAL)).toBe(WANTED);
  nowMs += 4_999;
  expect(room.of('b', Infinity)).toBe(WANTED);
  nowMs += 1;
  expect(room.of('b', Infinity)).toBe(Infinity);
});

test('the other one is the last that was another, not the last of all', () => {
  room.note('a');
  nowMs += 3_000;
  room.note('b');
  room.note('b');
  nowMs += 1_999;
  expect(room.of('b', USUAL)).toBe(WANTED);
  nowMs += 1;
  expect(room.of('b', USUAL)).toBe(USUAL);
  expect(room.of('a', USUAL)).toBe(WANTED);
});

test('pushes without time left are others too', () => {
  room.note('a');
  isPressed = true;
  expect(room.of('a', USUAL)).toBe(WANTED);
  expect(room.of('a', 0)).toBe(0);
});

test('by default it is the same for all', () => {
  expect(usualRoom('a', USUAL)).toBe(USUAL);
});

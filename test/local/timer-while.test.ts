/** Timers of the gateway, which an idle process does not have. */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { watchConnections } from '../../local/gateway-connections.ts';
import { timerWhile } from '../../local/timer-while.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a timer runs from its start until it is not needed', () => {
  let left = 0;
  let looks = 0;
  const look = () => {
    looks++;
    left--;
  };
  const timer = timerWhile(() => left > 0, look, 100);
  jest.advanceTimersByTime(1000);
  expect([looks, jest.getTimerCount()]).toEqual([0, 0]);
  left = 3;
  timer.start();
  timer.start();
  jest.advanceTimersByTime(250);
  expect([looks, jest.getTimerCount()]).toEqual([2, 1]);
  jest.advanceTimersByTime(1000);
  expect([looks, jest.getTimerCount()]).toEqual([3, 0]);
  left = 9;
  timer.start();
  timer.stop();
  jest.advanceTimersByTime(1000);
  expect([looks, jest.getTimerCount()]).toEqual([3, 0]);
});

test('the gateway has no timer while it has no connection', () => {
  const server = new EventEmitter();
  const times = { readTimeoutMs: 30_000, writeTimeoutMs: 30_000, idleTimeoutMs: 60_000 };
  watchConnections(server as Server, times, 10);
  expect(jest.getTimerCount()).toBe(0);
  const sockets = [1, 2].map(() => Object.assign(new EventEmitter(), { bytesRead: 0, destroy: () => {} }));
  for (const socket of sockets) server.emit('connection', socket);
  jest.advanceTimersByTime(10_000);
  expect(jest.getTimerCount()).toBe(1);
  for (const socket of sockets) socket.emit('close');
  jest.advanceTimersByTime(10_000);
  expect(jest.getTimerCount()).toBe(0);
});

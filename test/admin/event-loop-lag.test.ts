/** Delays of the event loop, which are measured only while metrics are scraped. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { addEventLoopLag, KEPT_MS, LAG_METRICS } from '../../shared/server/admin/metrics/event-loop-lag.ts';
import { MetricsRegistry } from '../../shared/server/admin/metrics/registry.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Counts the monitors that run; each has seen one delay of 12 ms since it was reset. */
function fakeMonitors() {
  const state = { running: 0, made: 0, resets: 0 };
  const create = () => {
    state.made++;
    return {
      enable: () => ++state.running > 0,
      disable: () => --state.running >= 0,
      reset: () => void state.resets++,
      ...{ count: 1, min: 12e6, max: 12e6, mean: 12e6, stddev: 0 },
      percentile: () => 12e6,
    };
  };
  return { state, create };
}

test('a monitor runs only from the first scrape until some time after the last one', async () => {
  const registry = new Registry();
  const { state, create } = fakeMonitors();
  addEventLoopLag(registry, create);
  jest.advanceTimersByTime(KEPT_MS);
  expect([state.made, jest.getTimerCount()]).toEqual([0, 0]);

  expect(await registry.metrics()).toContain('nodejs_eventloop_lag_p99_seconds 0\n');
  expect(state).toEqual({ running: 1, made: 1, resets: 0 });
  for (let scrapes = 0; scrapes < 3; scrapes++) {
    jest.advanceTimersByTime(KEPT_MS / 2);
    expect(await registry.metrics()).toContain('nodejs_eventloop_lag_p99_seconds 0.012\n');
  }
  expect(state).toEqual({ running: 1, made: 1, resets: 3 });

  jest.advanceTimersByTime(KEPT_MS);
  expect([state.running, jest.getTimerCount()]).toEqual([0, 0]);
  expect(await registry.metrics()).toContain('nodejs_eventloop_lag_max_seconds 0\n');
  expect([state.running, state.made]).toEqual([1, 2]);
});

test('the metrics of the process contain each delay once', async () => {
  const registry = new MetricsRegistry();
  registry.addProcessMetrics();
  const lines = (await registry.text())
    .split('\n')
    .filter(line => line.startsWith('# TYPE nodejs_eventloop'));
  expect(lines.sort()).toEqual(LAG_METRICS.map(name => `# TYPE ${name} gauge`).sort());
});

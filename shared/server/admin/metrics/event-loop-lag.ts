/**
 * Delays of the event loop, with the names and the meaning of prom-client's. Node measures them with a timer of 10 ms, which costs an idle
 * process 0.3% of a core. It runs only while metrics are scraped: the first scrape starts it and shows 0, and it ends KEPT_MS after
 * the last one.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import { MS_PER_MINUTE, NS_OF_SECOND } from '../../../base/model/time-units.ts';

const LAG_METRIC = 'nodejs_eventloop_lag_seconds';
/** Longer than any usual time between two scrapes. */
export const KEPT_MS = 5 * MS_PER_MINUTE;
const RESOLUTION_MS = 10;

type Monitor = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'enable' | 'disable' | 'reset' | 'count' | 'min' | 'max' | 'mean' | 'stddev' | 'percentile'
>;

const FIGURES: readonly (readonly [name: string, help: string, read: (monitor: Monitor) => number])[] = [
  ['min', 'The minimum recorded event loop delay.', monitor => monitor.min],
  ['max', 'The maximum recorded event loop delay.', monitor => monitor.max],
  ['mean', 'The mean of the recorded event loop delays.', monitor => monitor.mean],
  ['stddev', 'The standard deviation of the recorded event loop delays.', monitor => monitor.stddev],
  ...([50, 90, 99] as const).map(
    percent =>
      [
        `p${percent}`,
        `The ${percent}th percentile of the recorded event loop delays.`,
        (monitor: Monitor) => monitor.percentile(percent),
      ] as const,
  ),
];

/** Name of the gauge of a figure. */
function lagMetric(figure: string): string {
  return LAG_METRIC.replace('_seconds', `_${figure}_seconds`);
}

export const LAG_METRICS: readonly string[] = [LAG_METRIC, ...FIGURES.map(([name]) => lagMetric(name))];

export function addEventLoopLag(
  registry: Registry,
  createMonitor: () => Monitor = () => monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
): void {
  const registers = [registry];
  let monitor: Monitor | undefined;
  let ending: NodeJS.Timeout | undefined;

  function end(): void {
    monitor?.disable();
    monitor = undefined;
  }

  function collect(): void {
    const startMs = performance.now();
    setImmediate(() => lag.set((performance.now() - startMs) / 1000));
    for (const [i, [, , read]] of FIGURES.entries()) {
      const isMeasured = monitor !== undefined && monitor.count > 0;
      gauges[i].set(isMeasured ? read(monitor!) / NS_OF_SECOND : 0);
    }
    if (monitor === undefined) {
      monitor = createMonitor();
      monitor.enable();
    } else monitor.reset();
    clearTimeout(ending);
    ending = setTimeout(end, KEPT_MS).unref();
  }

  // The first of them sets them all.
  const lag = new Gauge({ name: LAG_METRIC, help: 'Lag of event loop in seconds.', registers, collect });
  const gauges = FIGURES.map(([name, help]) => new Gauge({ name: lagMetric(name), help, registers }));
}

/** What the threads of a process are busy with: shows which role is short of a core. */
import type { MetricsRegistry } from './registry.ts';

export interface ThreadFigures {
  /** For example `ingest-0`. */
  readonly name: string;
  /** Times that it was started. */
  readonly starts: number;
  /** Calls under way. */
  readonly running: number;
  /** Of its event loop since it was started, ms. */
  readonly utilization: { readonly idle: number; readonly active: number };
}

export function addThreadMetrics(registry: MetricsRegistry, threads: () => readonly ThreadFigures[]): void {
  registry.counter<'thread' | 'state'>({
    name: 'logboom_thread_seconds_total',
    help: 'Time that the event loop of a thread was busy or idle since the start of the thread.',
    labels: ['thread', 'state'],
    read: () =>
      threads().flatMap(({ name: thread, utilization: { active, idle } }) => [
        { labels: { thread, state: 'busy' }, value: active / 1000 },
        { labels: { thread, state: 'idle' }, value: idle / 1000 },
      ]),
  });
  registry.counter<'thread'>({
    name: 'logboom_thread_starts_total',
    help: 'Starts of a thread; more than 1 means that it was restarted.',
    labels: ['thread'],
    read: () => threads().map(({ name: thread, starts: value }) => ({ labels: { thread }, value })),
  });
  registry.gauge<'thread'>({
    name: 'logboom_thread_calls',
    help: 'Running requests and query tasks of a thread.',
    labels: ['thread'],
    read: () => threads().map(({ name: thread, running: value }) => ({ labels: { thread }, value })),
  });
}

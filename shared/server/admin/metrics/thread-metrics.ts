/** Load of the threads of a process. Shows which role needs more CPU. */
import type { MetricsRegistry } from './registry.ts';

interface ThreadLoad {
  /** Name such as `ingest-0`. */
  readonly name: string;
  /** Number of starts. */
  readonly starts: number;
  /** Running calls. */
  readonly running: number;
  /** Completed calls. */
  readonly completed: number;
  /** Busy and idle time of its event loop since its start, ms. */
  readonly utilization: { readonly idle: number; readonly active: number };
}

export function addThreadMetrics(registry: MetricsRegistry, threads: () => readonly ThreadLoad[]): void {
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
    help: 'Running requests, query tasks and merges of a thread.',
    labels: ['thread'],
    read: () => threads().map(({ name: thread, running: value }) => ({ labels: { thread }, value })),
  });
  registry.counter<'thread'>({
    name: 'logboom_thread_completed_calls_total',
    help: 'Requests, query tasks and merges that a thread has completed.',
    labels: ['thread'],
    read: () => threads().map(({ name: thread, completed: value }) => ({ labels: { thread }, value })),
  });
}

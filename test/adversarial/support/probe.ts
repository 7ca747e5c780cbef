/**
 * Another tenant during an attack: pushes a line, queries it and requests `/ready` repeatedly, each time on a new
 * connection. Tests check the statuses, never the times. The worst stalls are for reports: `npm run test:adversarial`
 * sets LOGBOOM_ADVERSARIAL_REPORT to a file, and `report` appends a line of JSON to it.
 */
import { appendFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { FromProbe, ProbeThreadData } from './probe-thread.ts';
import type { ProcessMemory } from './victim.ts';

export type ProbeName = 'ready' | 'push' | 'query';

interface ProbeFigures {
  /** Number of responses by status; a request without a response counts under its error code. */
  readonly answers: Readonly<Record<string, number>>;
  readonly worstMs: number;
}

type ProbeReport = Readonly<Record<ProbeName, ProbeFigures>>;

interface Probe {
  /** Resolves when each of the three requests has completed `times` times more. */
  answered(times: number): Promise<void>;
  /** Waits for the requests in progress. */
  stop(): Promise<ProbeReport>;
}

export interface ProbeOptions {
  readonly tenant?: string;
  /** Pause between two requests of a kind, ms. */
  readonly pauseMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Local address to connect from. */
  readonly localAddress?: string;
}

interface Running {
  readonly answers: Record<string, number>;
  count: number;
  worstMs: number;
}

export function startProbe(url: string, options: ProbeOptions = {}): Probe {
  const figures: Record<ProbeName, Running> = { ready: begun(), push: begun(), query: begun() };
  let wake = () => {};
  const workerData: ProbeThreadData = { url, options };
  // Threads must not inherit the flags of jest.
  const thread = new Worker(new URL('probe-thread.ts', import.meta.url), { workerData, execArgv: [] });
  const over = Promise.withResolvers<void>();
  thread.on('error', over.reject);
  thread.on('message', (message: FromProbe) => {
    if (message.kind === 'over') {
      over.resolve();
      return;
    }
    const { name, answer, ms } = message;
    const one = figures[name];
    one.worstMs = Math.max(one.worstMs, Math.round(ms));
    one.answers[answer] = (one.answers[answer] ?? 0) + 1;
    one.count++;
    wake();
  });
  return {
    async answered(times) {
      const all = Object.values(figures);
      const wanted = all.map(({ count }) => count + times);
      while (all.some(({ count }, i) => count < wanted[i])) {
        const next = new Promise<void>(resolve => {
          wake = resolve;
        });
        await Promise.race([next, over.promise]);
      }
    },
    async stop() {
      thread.postMessage('stop');
      await over.promise;
      await thread.terminate();
      return figures;
    },
  };
}

function begun(): Running {
  return { answers: {}, count: 0, worstMs: 0 };
}

/** Statuses of an undisturbed probe, for `expect(statusesOf(report)).toEqual(UNDISTURBED)`. */
export const UNDISTURBED: Readonly<Record<ProbeName, readonly string[]>> = {
  ready: ['200'],
  push: ['204'],
  query: ['200'],
};

export function statusesOf(report: ProbeReport): Record<ProbeName, string[]> {
  const of = (name: ProbeName) => Object.keys(report[name].answers).sort();
  return { ready: of('ready'), push: of('push'), query: of('query') };
}

/** Appends the figures of a case to a file if the environment names one. */
export async function report(name: string, figures: ProbeReport, memory?: ProcessMemory): Promise<void> {
  const file = process.env.LOGBOOM_ADVERSARIAL_REPORT;
  if (file !== undefined) await appendFile(file, `${JSON.stringify({ name, ...figures, ...memory })}\n`);
}

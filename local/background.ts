/**
 * Runs background work: heartbeats, and checks of files and of the disk. If it fails, the store serves
 * without it.
 */
import type { Clock } from '../shared/base/ports/clock.ts';

export interface BackgroundParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: { error(fields: object, message: string): void };
  readonly signal: AbortSignal;
}

/** Long enough that work that fails immediately does not fill the log. */
export const RESTART_PAUSE_MS = 10_000;

/**
 * Runs `work` until it resolves or `signal` aborts. If it rejects, logs the failure with the name of the
 * component, and restarts the work after RESTART_PAUSE_MS. Never rejects.
 */
export async function runInBackground(
  component: string,
  work: () => Promise<void>,
  { clock, log, signal }: BackgroundParts,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.error(
        { component, err: error },
        `${component} failed; restarting it in ${RESTART_PAUSE_MS / 1000} s`,
      );
      await clock.sleep(RESTART_PAUSE_MS, signal).catch(() => undefined);
    }
  }
}

/** Logs one run of a scheduled job, on one machine and in the scheduled function of an account. */
import { hasFailed, type LastRun } from './jobs.ts';

/** The part of a logger that this needs. Compatible with pino. */
export interface JobLog {
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

export function logRun(log: JobLog, run: LastRun): void {
  const { job, failures, figures, done, startedMs, endedMs } = run;
  const text = hasFailed(run) ? 'a scheduled job failed' : 'a scheduled job failed in part';
  for (const failure of failures) log.warn({ job, failure }, text);
  log.debug({ job, ms: Math.round(endedMs - startedMs), done, ...figures }, 'job finished');
}

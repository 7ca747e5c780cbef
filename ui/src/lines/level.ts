/** Level of an entry, limited to the levels that have a color. */
export const LEVELS = ['critical', 'error', 'warn', 'info', 'debug', 'trace', 'unknown'] as const;
export type Level = (typeof LEVELS)[number];

const NAMES: Readonly<Record<string, Level>> = {
  critical: 'critical',
  fatal: 'critical',
  crit: 'critical',
  emerg: 'critical',
  alert: 'critical',
  panic: 'critical',
  error: 'error',
  err: 'error',
  eror: 'error',
  warn: 'warn',
  warning: 'warn',
  info: 'info',
  information: 'info',
  informational: 'info',
  notice: 'info',
  debug: 'debug',
  dbug: 'debug',
  trace: 'trace',
};

export function levelOf(name: string | undefined): Level {
  return NAMES[name?.toLowerCase() ?? ''] ?? 'unknown';
}

/**
 * Words that name a level, and their levels (docs/dev/wire-format.md#detected_level). A level is a small code: its index in DETECTED_LEVELS.
 * kernels/assembly/line-levels.ts finds levels in lines, with the same words.
 */

/** Values of `detected_level` that detection assigns. The index is the code. */
export const DETECTED_LEVELS = [
  'unknown',
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'critical',
  'fatal',
] as const;

const SPELLINGS: Readonly<Record<string, (typeof DETECTED_LEVELS)[number]>> = {
  trace: 'trace',
  trc: 'trace',
  debug: 'debug',
  dbg: 'debug',
  info: 'info',
  inf: 'info',
  information: 'info',
  warn: 'warn',
  wrn: 'warn',
  warning: 'warn',
  error: 'error',
  err: 'error',
  critical: 'critical',
  fatal: 'fatal',
};

const CODE_OF_TEXT = new Map(
  Object.entries(SPELLINGS).map(([spelling, level]) => [spelling, DETECTED_LEVELS.indexOf(level)]),
);

/** Returns the level of a label or metadata value: known words normalized, anything else unchanged. */
export function normalizeLevel(value: string): string {
  const code = CODE_OF_TEXT.get(value.toLowerCase());
  return code === undefined ? value : DETECTED_LEVELS[code];
}

/** Returns the level of an OTLP severity number, which is the text of a metadata value. */
export function levelOfSeverityNumber(text: string): (typeof DETECTED_LEVELS)[number] {
  if (!/^[+-]?\d{1,18}$/.test(text)) return 'info';
  const severity = Number(text);
  if (severity === 0 || severity > 24) return 'unknown';
  if (severity <= 4) return 'trace';
  if (severity <= 8) return 'debug';
  if (severity <= 12) return 'info';
  if (severity <= 16) return 'warn';
  return severity <= 20 ? 'error' : 'fatal';
}

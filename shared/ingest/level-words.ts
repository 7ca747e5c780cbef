/**
 * Words that name a level, and the levels they name (wire-format 1.13). A level is a small code: its place in LEVELS.
 */

/** Values of `detected_level` that detection itself gives; the place is the code. */
export const LEVELS = ['unknown', 'trace', 'debug', 'info', 'warn', 'error', 'critical', 'fatal'] as const;
export const UNKNOWN = 0;

const SPELLINGS: Readonly<Record<string, (typeof LEVELS)[number]>> = {
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

const codeOfText = new Map(
  Object.entries(SPELLINGS).map(([spelling, level]) => [spelling, LEVELS.indexOf(level)]),
);

interface Word {
  readonly letters: Uint8Array;
  readonly code: number;
}

const MAX_LENGTH = 11;
const wordsByLength: Word[][] = Array.from({ length: MAX_LENGTH + 1 }, () => []);
for (const [spelling, code] of codeOfText) {
  wordsByLength[spelling.length].push({ letters: Buffer.from(spelling), code });
}

/** Code of the level that the whole of `bytes[start, end)` names, in any letter case; UNKNOWN where it names none. */
export function levelOfBytes(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length < 3 || length > MAX_LENGTH) return UNKNOWN;
  const words = wordsByLength[length];
  for (let w = 0; w < words.length; w++) {
    const { letters, code } = words[w];
    let i = 0;
    // Setting the bit of 0x20 turns upper into lower case and makes no other byte a letter.
    while (i < length && (bytes[start + i] | 0x20) === letters[i]) i++;
    if (i === length) return code;
  }
  return UNKNOWN;
}

/** The level that a label or metadata value stands for: known words normalised, anything else as it is. */
export function normaliseLevel(value: string): string {
  const code = codeOfText.get(value.toLowerCase());
  return code === undefined ? value : LEVELS[code];
}

/** Level of an OTLP severity number, given as the text of a metadata value. */
export function levelOfSeverityNumber(text: string): (typeof LEVELS)[number] {
  if (!/^[+-]?\d{1,18}$/.test(text)) return 'info';
  const severity = Number(text);
  if (severity === 0 || severity > 24) return 'unknown';
  if (severity <= 4) return 'trace';
  if (severity <= 8) return 'debug';
  if (severity <= 12) return 'info';
  if (severity <= 16) return 'warn';
  return severity <= 20 ? 'error' : 'fatal';
}

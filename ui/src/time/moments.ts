/** Relative times and durations: `5 min ago`, `1 h 30 min`. */
import { SECONDS_PER_DAY } from '../../../shared/base/model/time-units.ts';

const UNITS: readonly (readonly [string, number])[] = [
  ['d', SECONDS_PER_DAY],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
];

/** Two largest units. `seconds` is not negative. */
export function spanText(seconds: number): string {
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count === 0) {
      // Skips zero units: 1 d 5 min becomes 1 d.
      if (parts.length > 0) break;
      continue;
    }
    parts.push(`${count} ${name}`);
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** Largest unit only: `3 h ago`, `in 2 d`. */
export function agoText(atMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - atMs) / 1000);
  if (Math.abs(seconds) < 1) return 'now';
  const [first, unit] = spanText(Math.abs(seconds)).split(' ');
  return seconds < 0 ? `in ${first} ${unit}` : `${first} ${unit} ago`;
}

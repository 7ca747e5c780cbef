/** Formats the time of a line. */
import { formatTime } from '../time/time-range.ts';
import type { LogRow } from './rows.ts';

/** Time with milliseconds, always, so that times align. */
export function timeText({ ms }: Pick<LogRow, 'ms'>, utc: boolean): string {
  const text = formatTime(ms, utc);
  return text.length === 19 ? `${text}.000` : text;
}

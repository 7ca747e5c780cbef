/**
 * Text entries that begin with a time, as most loggers write them: `2026-01-05 10:00:00,123 INFO ...`,
 * `[05/Jan/2026:10:00:00 +0100] ...`.
 */
import type { FormatOptions, LineFormat } from '../line-format.ts';

const OPENING = /^[[(<"]/;

export function textFormat({ times }: FormatOptions): LineFormat {
  return {
    continuesWithoutTime: true,
    parse(line) {
      const time = times.leading(line) ?? (OPENING.test(line) ? times.leading(line.slice(1)) : undefined);
      return time === undefined ? undefined : { fields: {}, timeNs: time.ns };
    },
  };
}

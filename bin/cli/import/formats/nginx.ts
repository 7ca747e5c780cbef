/**
 * nginx access log and error log (`2026/01/05 10:00:00 [error] 31#31: *7 open() failed, client: 10.0.0.1`).
 */
import type { FormatOptions, LineFormat } from '../line-format.ts';
import { parseAccessLine } from './access-log.ts';

const ERROR =
  /^(\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2}) \[([a-z]{1,10})\] (\d{1,10})#(\d{1,10}): (?:\*(\d{1,20}) )?/;

export function nginxFormat({ times }: FormatOptions): LineFormat {
  return {
    parse(line) {
      const access = parseAccessLine(line);
      if (access !== undefined) return { fields: access, timeNs: times.whole(access.time_local) };
      const match = ERROR.exec(line);
      if (match === null) return undefined;
      const [head, time, level, pid, tid, connection] = match;
      const fields = { time, level, pid, tid, connection, message: line.slice(head.length) };
      return { fields, timeNs: times.whole(time), metadata: { level } };
    },
  };
}

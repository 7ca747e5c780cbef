/**
 * Apache access log and error log (`[Mon Jan 05 10:00:00.123456 2026] [core:error] [pid 31:tid 7] AH00126:
 * ...`).
 */
import { type FormatOptions, type LineFormat, presentValues } from '../line-format.ts';
import { parseAccessLine } from './access-log.ts';

const ERROR =
  /^\[([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}(?:\.\d{1,9})? \d{4})\] \[(?:([\w-]{0,40}):)?([a-z0-9]{1,10})\] (?:\[pid (\d{1,10})(?::tid (\d{1,20}))?\] )?(?:\[(?:client|remote) ([^\]]{1,100})\] )?/;

export function apacheFormat({ times }: FormatOptions): LineFormat {
  return {
    parse(line) {
      const access = parseAccessLine(line);
      if (access !== undefined) return { fields: access, timeNs: times.whole(access.time_local) };
      const match = ERROR.exec(line);
      if (match === null) return undefined;
      const [head, time, module, level, pid, tid, client] = match;
      const message = line.slice(head.length);
      const fields = presentValues({ time, module, level, pid, tid, client, message });
      return { fields, timeNs: times.whole(time), metadata: { level } };
    },
  };
}

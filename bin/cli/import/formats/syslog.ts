/**
 * syslog in files and on the wire: RFC 5424 (`<34>1 2026-01-05T10:00:00Z host app 31 ID47 - text`) and RFC
 * 3164 (`<34>Jan 5 10:00:00 host app[31]: text`). Files may have RFC 3164 without `<34>`, and a time in ISO
 * 8601.
 */
import {
  type FormatOptions,
  type LineFormat,
  levelOfSeverity,
  type ParsedLine,
  presentValues,
} from '../line-format.ts';

const PRIORITY = /^<(\d{1,3})>/;
const NEW =
  /^1 (\S{1,64}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (-|(?:\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?: |$)/;
const TAG = /^ (\S{1,255}) ([^\s:[\]]{1,128})(?:\[([^\]]{1,40})\])?:(?: |$)/;
/** Level at the position of the host name: the line comes from an application's own logger, not from syslog. */
const LEVEL_WORD = /^\[?(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\]?$/i;
const MAX_PRIORITY = 191;

export function syslogFormat({ times }: FormatOptions): LineFormat {
  return {
    parse(line) {
      const priority = PRIORITY.exec(line);
      const number = priority === null ? undefined : Number(priority[1]);
      if (number !== undefined && number > MAX_PRIORITY) return undefined;
      const level = number === undefined ? undefined : levelOfSeverity(number % 8);
      const rest = line.slice(priority?.[0].length ?? 0);
      return (number === undefined ? undefined : parseNew(rest, level)) ?? parseOld(rest, level);
    },
  };

  function parseNew(rest: string, level: string | undefined): ParsedLine | undefined {
    const match = NEW.exec(rest);
    if (match === null) return undefined;
    const [head, time, hostname, app, pid, messageId, data] = match;
    const metadata = presentValues({ hostname, app, pid, message_id: messageId, level });
    const fields = { ...metadata, structured_data: data, message: rest.slice(head.length) };
    return { fields, timeNs: times.whole(time), metadata };
  }

  function parseOld(rest: string, level: string | undefined): ParsedLine | undefined {
    const time = times.leading(rest);
    if (time === undefined) return undefined;
    const match = TAG.exec(rest.slice(time.end));
    if (match === null || LEVEL_WORD.test(match[1])) return undefined;
    const [head, hostname, app, pid] = match;
    const metadata = presentValues({ hostname, app, pid, level });
    const fields = { ...metadata, message: rest.slice(time.end + head.length) };
    return { fields, timeNs: time.ns, metadata };
  }
}

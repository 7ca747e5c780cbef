/** systemd journal as `journalctl -o json` prints it. */

import { parseObject } from '../../../../shared/base/text/json-object.ts';
import { textOfValue } from '../field-values.ts';
import { type FormatOptions, type LineFormat, levelOfSeverity, presentValues } from '../line-format.ts';

export function journaldFormat(_: FormatOptions): LineFormat {
  return {
    parse(line) {
      const fields = parseObject(line);
      if (fields === undefined || !Object.hasOwn(fields, '__REALTIME_TIMESTAMP')) return undefined;
      const micros = String(fields.__REALTIME_TIMESTAMP);
      if (!/^\d{1,16}$/.test(micros)) return undefined;
      const priority = textOfValue(fields.PRIORITY);
      const metadata = presentValues({
        unit: textOfValue(fields._SYSTEMD_UNIT),
        hostname: textOfValue(fields._HOSTNAME),
        identifier: textOfValue(fields.SYSLOG_IDENTIFIER),
        pid: textOfValue(fields._PID),
        level: priority === undefined ? undefined : levelOfSeverity(Number(priority)),
      });
      return { fields, timeNs: BigInt(micros) * 1000n, line: messageText(fields.MESSAGE), metadata };
    },
  };
}

/** Message text. journalctl prints a message that is not UTF-8 as an array of bytes. */
function messageText(message: unknown): string {
  if (!Array.isArray(message)) return textOfValue(message) ?? '';
  return Buffer.from(message.map(Number)).toString('utf8');
}

/** Docker's json-file driver: `{"log":"text\n","stream":"stdout","time":"2026-01-05T10:00:00.123456789Z"}`. */

import { parseObject } from '../../../../shared/base/text/json-object.ts';
import type { FormatOptions, LineFormat } from '../line-format.ts';

export function dockerFormat({ times }: FormatOptions): LineFormat {
  return {
    parse(line) {
      const fields = parseObject(line);
      if (fields === undefined) return undefined;
      const { log, stream, time } = fields;
      if (typeof log !== 'string' || typeof stream !== 'string' || time === undefined) return undefined;
      // Docker cuts messages at 16 KiB; only the last part has the line break.
      return {
        fields,
        timeNs: times.whole(time),
        line: log.replace(/\r?\n$/, ''),
        metadata: { stream },
        isPartial: !log.endsWith('\n'),
        channel: stream,
      };
    },
  };
}

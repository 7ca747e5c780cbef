/** The formats that `logboom push --format` names. */
import { apacheFormat } from './formats/apache.ts';
import { criFormat } from './formats/cri.ts';
import { csvFormat } from './formats/csv.ts';
import { dockerFormat } from './formats/docker.ts';
import { journaldFormat } from './formats/journald.ts';
import { jsonFormat } from './formats/json.ts';
import { logfmtFormat } from './formats/logfmt.ts';
import { nginxFormat } from './formats/nginx.ts';
import { plainFormat } from './formats/plain.ts';
import { syslogFormat } from './formats/syslog.ts';
import { textFormat } from './formats/text.ts';
import type { FormatOptions, LineFormat } from './line-format.ts';

/** Detection order: a format comes before the formats that would match its lines, too. */
const FORMATS = {
  cri: criFormat,
  docker: dockerFormat,
  journald: journaldFormat,
  json: jsonFormat,
  syslog: syslogFormat,
  nginx: nginxFormat,
  apache: apacheFormat,
  logfmt: logfmtFormat,
  csv: csvFormat,
  text: textFormat,
  plain: plainFormat,
} satisfies Readonly<Record<string, (options: FormatOptions) => LineFormat>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];

/** Creates a format for one input. A format may learn from its lines, such as from a CSV header. */
export function createFormat(name: FormatName, options: FormatOptions): LineFormat {
  return FORMATS[name](options);
}

/** Time of a parsed line: from its position in the format, or from a field. */
import { fieldOf, TIME_FIELDS } from './field-values.ts';
import type { ParsedLine } from './line-format.ts';
import type { TimeReader } from './time-reader.ts';

/** @param timeField overrides the format's position and the usual fields */
export function timeOfLine(parsed: ParsedLine, times: TimeReader, timeField?: string): bigint | undefined {
  if (timeField !== undefined) return times.whole(fieldOf(parsed, timeField));
  if (parsed.timeNs !== undefined) return parsed.timeNs;
  for (const name of TIME_FIELDS) {
    const value = fieldOf({ fields: parsed.fields }, name);
    const ns = value === undefined ? undefined : times.whole(value);
    if (ns !== undefined) return ns;
  }
  return undefined;
}

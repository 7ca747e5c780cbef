/** Values of fields by name. A name with dots is a member itself, or a path through nested objects. */
import { parseObject } from '../../../shared/base/text/json-object.ts';
import type { InputFields, ParsedLine } from './line-format.ts';

/** Fields in which loggers write the time, most frequent names first. */
export const TIME_FIELDS: readonly string[] = [
  'time',
  'timestamp',
  'ts',
  '@timestamp',
  'datetime',
  'date',
  't',
  '@t',
  'asctime',
  'time_local',
  'time_iso8601',
  'timeMillis',
  'event_time',
  'eventTime',
  'created_at',
  'Timestamp',
  'Time',
];

/** Value of a field of the line, else of the JSON object in its message. */
export function fieldOf(parsed: ParsedLine, name: string): unknown {
  const own = memberAt(parsed.fields, name);
  if (own !== undefined || parsed.line === undefined) return own;
  const inner = parseObject(parsed.line);
  return inner === undefined ? undefined : memberAt(inner, name);
}

function memberAt(fields: InputFields, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  if (!name.includes('.')) return undefined;
  let at: unknown = fields;
  for (const part of name.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as InputFields)[part];
  }
  return at;
}

/** Text for a label or metadata; undefined for a missing, empty or null value. */
export function textOfValue(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Prints values: Go's `%v`, and the output of an action. They differ only for an invalid value: an action
 * prints `<no value>`; inside a list or for a function it is `<nil>`.
 */

import { formatGoDuration } from '../../../base/model/duration.ts';
import { MAX_OUTPUT_LENGTH } from './bounds.ts';
import { CallError, OUTPUT_TOO_LONG } from './error.ts';
import { formatFloat } from './float-text.ts';
import { goTimeText, MONTHS, WEEKDAYS } from './layout.ts';
import { GoTime } from './time.ts';
import { GoInt, type LabelMap, sortedEntries, type Value } from './values.ts';

/** Returns the text of a value that an action prints. */
export function printed(value: Value): string {
  return value === undefined || value === null ? '<no value>' : valueText(value);
}

/** Formats a value with `%v`. */
export function valueText(value: Value): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return floatText(value);
    case 'boolean':
      return value ? 'true' : 'false';
  }
  if (value === undefined || value === null) return '<nil>';
  if (value instanceof GoInt) return intText(value);
  if (value instanceof GoTime) return goTimeText(value);
  return listText(value);
}

function floatText(value: number): string {
  // Common numbers print the same in both languages.
  if (Number.isInteger(value) && value < 1e6 && value > -1e6 && !Object.is(value, -0)) return String(value);
  return formatFloat(value, 'g', -1);
}

/** Formats an integer: named types print their names, plain ones their digits. */
export function intText(int: GoInt): string {
  if (int.type === 'time.Duration') return formatGoDuration(int.value);
  if (int.type === 'time.Month') return MONTHS[Number(int.value) - 1] ?? `%!Month(${int.value})`;
  if (int.type === 'time.Weekday') return WEEKDAYS[Number(int.value)] ?? `%!Weekday(${int.value})`;
  return int.value.toString();
}

function listText(value: Value[] | Map<string, Value> | LabelMap): string {
  const parts: string[] = [];
  let length = 0;
  const add = (text: string) => {
    length += text.length + 1;
    if (length > MAX_OUTPUT_LENGTH) throw new CallError(OUTPUT_TOO_LONG);
    parts.push(text);
  };
  if (Array.isArray(value)) {
    for (const item of value) add(valueText(item));
    return `[${parts.join(' ')}]`;
  }
  for (const [key, item] of sortedEntries(value)) add(`${key}:${valueText(item)}`);
  return `map[${parts.join(' ')}]`;
}

/** Works as Go's `fmt.Sprint`: a space between two operands if neither is a string. */
export function sprint(values: readonly Value[]): string {
  let out = '';
  for (let i = 0; i < values.length; i++) {
    if (i > 0 && typeof values[i] !== 'string' && typeof values[i - 1] !== 'string') out += ' ';
    out += valueText(values[i]);
  }
  return out;
}

/** Works as Go's `fmt.Sprintln`: a space between all operands, and a newline at the end. */
export function sprintln(values: readonly Value[]): string {
  return `${values.map(valueText).join(' ')}\n`;
}

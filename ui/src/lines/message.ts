/**
 * Readable form of a JSON or logfmt line: its message first, if it has one, then its other fields. Other lines, and
 * those with text outside their fields, are shown as they are stored.
 */
import { parseAnsi } from './ansi.ts';
import { fieldsOf, isAllPairs } from './fields.ts';

interface ReadLine {
  /** First line of the message; empty if the fields have none. */
  readonly message: string;
  /** Other fields of a JSON or logfmt line, except those that the row already shows. */
  readonly others: readonly (readonly [string, string])[];
  /** Lines after the first one; a click shows them. */
  readonly folded: string;
}

/** Message fields, in order of precedence. */
const MESSAGE_NAMES = ['msg', 'message', 'log', 'text', 'body', 'event'];
/** Fields that the time and the color of the row already show. */
const SHOWN_NAMES = new Set(['time', 'ts', 'timestamp', '_timestamp', 'level', 'lvl', 'severity']);
/**
 * Maximum length to parse. Parsing longer lines takes too long during a scroll, so they are shown unchanged.
 */
const MAX_CHARACTERS = 20_000;

export function readLine(line: string): ReadLine {
  const text = line.length > MAX_CHARACTERS ? '' : parseAnsi(line).text;
  const found = fieldsOf(text, { lists: true });
  if (found === undefined) return { ...folded(line), others: [] };
  const message = MESSAGE_NAMES.map(name =>
    found.fields.find(([field, value]) => field.toLowerCase() === name && value !== ''),
  ).find(field => field !== undefined);
  const others = found.fields.filter(
    field => field !== message && !SHOWN_NAMES.has(field[0].toLowerCase()) && field[1] !== '',
  );
  const hasText = message !== undefined || others.length > 0;
  if (!hasText || (found.parser === 'logfmt' && !isAllPairs(text))) return { ...folded(line), others: [] };
  return { ...folded(message?.[1] ?? ''), others };
}

/** Number of folded lines. */
export function foldedLines({ folded: text }: ReadLine): number {
  return text === '' ? 0 : text.split('\n').length;
}

function folded(text: string): Pick<ReadLine, 'message' | 'folded'> {
  const trimmed = text.trimEnd();
  const end = trimmed.indexOf('\n');
  if (end === -1) return { message: text, folded: '' };
  return { message: trimmed.slice(0, end).trimEnd(), folded: trimmed.slice(end + 1) };
}

/** Readable form of a line: its message first, then its other fields. Raw lines show the stored text. */
import { parseAnsi } from './ansi.ts';
import { fieldsOf } from './fields.ts';

interface ReadLine {
  /** First line of the message. */
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
  const found = line.length > MAX_CHARACTERS ? undefined : fieldsOf(parseAnsi(line).text);
  const message = MESSAGE_NAMES.map(name =>
    found?.fields.find(([field, value]) => field.toLowerCase() === name && value !== ''),
  ).find(field => field !== undefined);
  if (found === undefined || message === undefined) return { ...folded(line), others: [] };
  const others = found.fields.filter(
    field => field !== message && !SHOWN_NAMES.has(field[0].toLowerCase()) && field[1] !== '',
  );
  return { ...folded(message[1]), others };
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

/** A line as people read it: its message first, then what else it says. Raw lines are what the store has. */
import { parseAnsi } from './ansi.ts';
import { fieldsOf } from './fields.ts';

export interface ReadLine {
  /** The first line of the message. */
  readonly message: string;
  /** The other fields of a JSON or logfmt line; none of those that the row shows anyway. */
  readonly others: readonly (readonly [string, string])[];
  /** Lines below the first one, that a click shows. */
  readonly folded: string;
}

/** In this order the fields are looked for. */
const MESSAGE_NAMES = ['msg', 'message', 'log', 'text', 'body', 'event'];
/** The time and the colour of the row say the same. */
const SHOWN_NAMES = new Set(['time', 'ts', 'timestamp', '_timestamp', 'level', 'lvl', 'severity']);
/** Longer lines are shown as they are: reading them takes too long while somebody scrolls. */
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

/** How many lines are folded. */
export function foldedLines({ folded: text }: ReadLine): number {
  return text === '' ? 0 : text.split('\n').length;
}

function folded(text: string): Pick<ReadLine, 'message' | 'folded'> {
  const trimmed = text.trimEnd();
  const end = trimmed.indexOf('\n');
  if (end === -1) return { message: text, folded: '' };
  return { message: trimmed.slice(0, end).trimEnd(), folded: trimmed.slice(end + 1) };
}

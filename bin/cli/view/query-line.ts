/** The query line of `logboom view`: text with a cursor, and what may be completed at it. */
import { quote } from '../../../shared/base/model/quote.ts';

export interface QueryLine {
  readonly text: string;
  /** Place in the text, from 0 to its length. */
  readonly cursor: number;
}

/** Pasted text beyond it is omitted. */
const MAX_CHARACTERS = 10_000;

export function typed({ text, cursor }: QueryLine, more: string): QueryLine {
  const kept = more.replaceAll(/\s+/g, ' ').slice(0, MAX_CHARACTERS - text.length);
  return { text: text.slice(0, cursor) + kept + text.slice(cursor), cursor: cursor + kept.length };
}

/** The line after an editing key; the same one if the key edits nothing. */
export function edited(line: QueryLine, key: string): QueryLine {
  const { text, cursor } = line;
  switch (key) {
    case 'left':
      return { text, cursor: cursor - lengthBefore(text, cursor) };
    case 'right':
      return { text, cursor: cursor + lengthBehind(text, cursor) };
    case 'home':
      return { text, cursor: 0 };
    case 'end':
      return { text, cursor: text.length };
    case 'backspace': {
      const at = cursor - lengthBefore(text, cursor);
      return { text: text.slice(0, at) + text.slice(cursor), cursor: at };
    }
    case 'delete':
      return { text: text.slice(0, cursor) + text.slice(cursor + lengthBehind(text, cursor)), cursor };
    case 'erase':
      return { text: text.slice(cursor), cursor: 0 };
    default:
      return line;
  }
}

/** Code units of the character before the cursor. */
function lengthBefore(text: string, cursor: number): number {
  return [...text.slice(0, cursor)].at(-1)?.length ?? 0;
}

function lengthBehind(text: string, cursor: number): number {
  return [...text.slice(cursor)].at(0)?.length ?? 0;
}

export type Completion =
  | { readonly kind: 'name'; readonly prefix: string }
  | { readonly kind: 'value'; readonly label: string; readonly prefix: string }
  | { readonly kind: 'stage'; readonly prefix: string };

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const SELECTOR_PART = `(?:[^"{}]|${QUOTED})*`;
const VALUE = new RegExp(`\\{${SELECTOR_PART}?\\b([a-zA-Z_]\\w*)\\s*(?:=~|!~|!=|=)\\s*"([^"\\\\]*)$`);
const NAME = new RegExp(`\\{(?:${SELECTOR_PART},)?\\s*(\\w*)$`);
const STAGE = new RegExp(`^(?:[^"]|${QUOTED})*\\|\\s*(\\w*)$`);

export const STAGES: readonly string[] = [
  'decolorize',
  'drop',
  'json',
  'keep',
  'label_format',
  'line_format',
  'logfmt',
  'pattern',
  'regexp',
  'unpack',
];

/** The text at the cursor, if the store or the language has a list of completions for it. */
export function completionAt({ text, cursor }: QueryLine): Completion | undefined {
  const before = text.slice(0, cursor);
  const value = VALUE.exec(before);
  if (value !== null) return { kind: 'value', label: value[1], prefix: value[2] };
  const name = NAME.exec(before);
  if (name !== null) return { kind: 'name', prefix: name[1] };
  const stage = STAGE.exec(before);
  return stage === null ? undefined : { kind: 'stage', prefix: stage[1] };
}

/** The line with the word at the cursor completed. */
export function completed(line: QueryLine, { kind, prefix }: Completion, word: string): QueryLine {
  const at = line.cursor - prefix.length;
  const rest = line.text.slice(line.cursor);
  const closes = kind === 'value' && !rest.startsWith('"');
  const inserted = kind === 'value' ? quote(word).slice(1, -1) + (closes ? '"' : '') : word;
  return { text: line.text.slice(0, at) + inserted + rest, cursor: at + inserted.length };
}

/** The query with a filter for one label. Works for labels of streams, for structured metadata and for parsed labels. */
export function withFilter(text: string, name: string, value: string, keeps: boolean): string {
  return `${text.trimEnd()} | ${name}${keeps ? '=' : '!='}${quote(value)}`;
}

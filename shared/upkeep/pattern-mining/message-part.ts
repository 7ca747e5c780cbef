/**
 * Finds the message of a template of split lines: the value that mining reads of each of its rows. It must be what
 * shared/base/kernels/assembly/line-words.ts finds in every row, so a doubtful template has none, and its rows are read one by one.
 */
import type { MessagePart } from '../../base/kernels/row-classes.ts';
import type { LineTemplate } from '../../base/model/page.ts';
import { CLASS_OF, COLON, EQUALS, SEPARATOR } from './byte-classes.ts';

const OPEN_BRACE = 0x7b;

// The names of message-fields.ts, the longer one first.
const NAME = 'log|message|msg_|_msg|msg|content';
const JSON_MESSAGE = new RegExp(`"(?:${NAME})": ?"`);
const LOGFMT_NAME = new RegExp(`(?:${NAME})=`, 'g');

/** Returns whether lines that begin with these bytes may have a message. */
export function mayHaveMessage(bytes: Uint8Array, from: number, end: number): boolean {
  return from < end && (bytes[from] === OPEN_BRACE || beginsWithName(bytes, from, end));
}

/**
 * Returns `undefined` if rows of the template must be read.
 * @param template its first literal may have a message
 */
export function messagePart(template: LineTemplate): MessagePart | undefined {
  const { text, values } = template;
  if (text.startsWith('{')) {
    const found = JSON_MESSAGE.exec(text);
    return found === null ? undefined : partAt(template, found.index, found.index + found[0].length);
  }
  for (const { index, 0: name } of text.matchAll(LOGFMT_NAME)) {
    if (index === 0 || text[index - 1] === ' ') {
      const start = index + name.length;
      return text[start] === '"' ? partAt(template, Math.max(0, index - 1), start + 1) : undefined;
    }
    // The end of a longer word does not count.
    if (!endsWord(text, index) || values.includes(index)) return undefined;
  }
  return undefined;
}

/**
 * @param field start of the field in the text
 * @param start start of the message, if it is a value
 */
function partAt({ text, values }: LineTemplate, field: number, start: number): MessagePart | undefined {
  const value = values.indexOf(start);
  const before = text.slice(0, field);
  if (value < 0 || before.includes('\n')) return undefined;
  // A value inside the field: it is another one.
  return value > 0 && values[value - 1] > field ? undefined : { value, words: wordsIn(before) + value };
}

/** Whether the line begins with a word and an equals sign, as logfmt does. */
function beginsWithName(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from;
  while (at < end && CLASS_OF[bytes[at]] > SEPARATOR) at++;
  return at > from && at < end && CLASS_OF[bytes[from]] !== COLON && bytes[at] === EQUALS;
}

/** Whether the byte before is in a word, and not a colon. */
function endsWord(text: string, at: number): boolean {
  const kind = CLASS_OF[text.charCodeAt(at - 1)];
  return kind > SEPARATOR && kind !== COLON;
}

function wordsIn(text: string): number {
  let words = 0;
  let before: number = SEPARATOR;
  for (let at = 0; at < text.length; at++) {
    const kind = CLASS_OF[text.charCodeAt(at)];
    if (kind > SEPARATOR && before === SEPARATOR) words++;
    before = kind;
  }
  return words;
}

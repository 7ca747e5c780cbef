/**
 * Splits the bytes of a template into words, as lines are split (shared/base/kernels/line-words.ts).
 * Differences: no part is skipped or cut, and a word of one byte PLACEHOLDER_BYTE is a placeholder.
 */
import { WORD_ANY, WORD_TEXT, WORD_VALUE } from '../../base/kernels/line-words.ts';
import { MAX_WORDS } from './bounds.ts';
import {
  CLASS_OF,
  COLON,
  DIGIT,
  IN_QUERY,
  PLACEHOLDER_BYTE,
  QUESTION,
  SEPARATOR,
  SLASH,
} from './byte-classes.ts';
import { behindMessageKey } from './message-fields.ts';

/** Words of a line, the remainder after them, and the parts around a message. */
const MAX_TEMPLATE_WORDS = MAX_WORDS + 3;

interface TemplateWord {
  readonly start: number;
  readonly end: number;
  /** WORD_TEXT, WORD_VALUE or WORD_ANY. */
  readonly kind: number;
}

export function wordsOfTemplate(template: Buffer): TemplateWord[] {
  const words: TemplateWord[] = [];
  const end = template.length;
  let at = 0;
  while (at < end) {
    const kind = CLASS_OF[template[at]];
    if (kind === SEPARATOR || kind === COLON) {
      at++;
      continue;
    }
    if (at === 2 && words.length === 1 && words[0].kind === WORD_ANY) {
      const text = behindMessageKey(template, at);
      if (text > at) {
        at = text;
        continue;
      }
    }
    if (words.length >= MAX_TEMPLATE_WORDS - 1) break;
    const word = wordAt(template, at);
    words.push(word);
    at = word.end;
  }
  if (at < end) words.push({ start: at, end, kind: WORD_ANY });
  return words;
}

function wordAt(template: Buffer, start: number): TemplateWord {
  let end = start;
  let kinds = 0;
  for (; end < template.length && CLASS_OF[template[end]] !== SEPARATOR; end++)
    kinds |= CLASS_OF[template[end]];
  const isPath = (kinds & SLASH) !== 0 && template[end] === QUESTION;
  if (isPath) while (end < template.length && IN_QUERY[template[end]] === 1) end++;
  const isAny = end - start === 1 && template[start] === PLACEHOLDER_BYTE;
  const kind = isAny ? WORD_ANY : isPath || (kinds & DIGIT) !== 0 ? WORD_VALUE : WORD_TEXT;
  return { start, end, kind };
}

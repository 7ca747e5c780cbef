/** Byte-by-byte version of assembly/line-words.ts. */
import { WORD_ANY, WORD_TEXT, WORD_VALUE } from '../../../shared/base/kernels/line-words.ts';
import {
  MAX_GROUP_WORDS,
  MAX_MINED_LINE_BYTES,
  MAX_WORDS,
} from '../../../shared/upkeep/pattern-mining/bounds.ts';

const WORD = /[A-Za-z0-9_\-.@%+~#$*/:\x80-\xff]/;
const IN_QUERY = /[A-Za-z0-9_\-.@%+~#$*/:\x80-\xff?&=;,!]/;
const MESSAGE_KEYS = ['log', 'message', 'msg', 'msg_', '_msg', 'content'];

interface OracleWord {
  readonly start: number;
  readonly end: number;
  readonly kind: number;
}

export function wordsOfLine(line: Buffer): OracleWord[] {
  return new LineReader(line.latin1Slice()).words;
}

class LineReader {
  readonly words: OracleWord[] = [];
  readonly #line: string;

  constructor(line: string) {
    this.#line = line;
    if (line !== '') this.#read();
  }

  #read(): void {
    const line = this.#line;
    const { words } = this;
    const limit = Math.min(line.length, MAX_MINED_LINE_BYTES);
    let quote: { at: number; words: number } | undefined;
    let bracket: { at: number; words: number; closing: string } | undefined;
    let isLogfmt = false;
    let at = 0;
    while (at < limit) {
      const byte = line[at];
      if (WORD.test(byte) && byte !== ':') {
        if (words.length >= MAX_WORDS) break;
        const next = this.#readWord(at, limit);
        if (next === undefined) break;
        at = next;
        continue;
      }
      const last = words.at(-1);
      const key = last?.end === at ? last : undefined;
      const isMessage = key !== undefined && MESSAGE_KEYS.includes(line.slice(key.start, key.end));
      if (byte === '"') {
        const text = /^": ?"/.exec(line.slice(at, at + 4))?.[0];
        if (line[0] === '{' && isMessage && line[key.start - 1] === '"' && text !== undefined) {
          this.#readMessage(key.start - 1, at + text.length, this.#endOfQuoted(at + text.length));
          return;
        }
        if (quote === undefined) quote = { at, words: words.length };
        else {
          if (this.#shorten(quote.words, quote.at + 1, at, MAX_GROUP_WORDS)) bracket = undefined;
          quote = undefined;
        }
      } else if (byte === '[' || byte === '(') {
        bracket = { at, words: words.length, closing: byte === '[' ? ']' : ')' };
      } else if (byte === bracket?.closing) {
        const areValues = words.slice(bracket.words).every(({ kind }) => kind !== WORD_TEXT);
        const isShorter = this.#shorten(bracket.words, bracket.at + 1, at, areValues ? 1 : MAX_GROUP_WORDS);
        if (isShorter && quote !== undefined && quote.at > bracket.at) quote = undefined;
        bracket = undefined;
      } else if (byte === '=' && key !== undefined) {
        if (words.length === 1 && key.start === 0) isLogfmt = line[0] !== '{';
        if (isLogfmt && isMessage) {
          const end = this.#endOfLogfmtMessage(at + 1);
          if (end !== undefined && (key.start === 0 || line[key.start - 1] === ' ')) {
            this.#readMessage(Math.max(0, key.start - 1), at + 1, end);
            return;
          }
          isLogfmt = false;
        }
      }
      at++;
      if (byte === '\n' && words.length > 0) break;
    }
    this.#pushRest(at);
  }

  #readMessage(field: number, text: number, end: number): void {
    const { words } = this;
    words.length = 0;
    if (field > 0) words.push({ start: 0, end: field, kind: WORD_ANY });
    const limit = Math.min(end, text + MAX_MINED_LINE_BYTES);
    let at = text;
    while (at < limit) {
      if (!WORD.test(this.#line[at]) || this.#line[at] === ':') {
        at++;
        continue;
      }
      const next = words.length >= MAX_WORDS - 2 ? undefined : this.#readWord(at, limit);
      if (next === undefined) break;
      at = next;
    }
    this.#pushRest(at);
  }

  #readWord(start: number, limit: number): number | undefined {
    const line = this.#line;
    let end = start;
    while (end < limit && WORD.test(line[end])) end++;
    const isPath = end < limit && line[end] === '?' && line.slice(start, end).includes('/');
    if (isPath) while (end < limit && IN_QUERY.test(line[end])) end++;
    if (end === limit && limit < line.length) return undefined;
    const text = line.slice(start, end);
    const kind = text === '\xff' ? WORD_ANY : isPath || /[0-9]/.test(text) ? WORD_VALUE : WORD_TEXT;
    this.words.push({ start, end, kind });
    return end;
  }

  #shorten(first: number, start: number, end: number, most: number): boolean {
    if (this.words.length - first <= most) return false;
    this.words.length = first;
    this.words.push({ start, end, kind: WORD_ANY });
    return true;
  }

  #pushRest(at: number): void {
    if (at < this.#line.length) this.words.push({ start: at, end: this.#line.length, kind: WORD_ANY });
  }

  #endOfQuoted(from: number): number {
    for (let at = from; at < this.#line.length; at++) {
      if (this.#line[at] === '\\') at++;
      else if (this.#line[at] === '"') return at + 1;
    }
    return this.#line.length;
  }

  #endOfLogfmtMessage(from: number): number | undefined {
    const line = this.#line;
    if (line[from] === '"') return this.#endOfQuoted(from + 1);
    if (line[from] === ':') return undefined;
    let end = from;
    while (end < line.length && WORD.test(line[end])) end++;
    if (end === from) return undefined;
    if (end === line.length) return end;
    return line[end] === ' ' ? end + 1 : undefined;
  }
}

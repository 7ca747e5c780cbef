/**
 * A line as words and what lies between them (gaps). Words vary from line to line, gaps are the line's structure: two lines
 * can share a pattern only where all gaps are equal.
 *
 *     GET /cart?id=7 took 12 ms        words GET, /cart?id=7, took, 12, ms; gaps '', ' ', ' ', ' ', ' ', ''
 *     {"ts":1,"msg":"job 7 done"}      words *, msg, job, 7, done, *; the first and the last stand for all around
 *
 * Of JSON and logfmt lines with a message only the message is looked at, because their other fields come and go. Long
 * insides of quotes and brackets, and what lies behind the bounds, are one word each.
 *
 * The arrays are written anew for each line: no object stands for one. A word that is one byte PLACEHOLDER_BYTE is a
 * placeholder: so the same reader takes templates apart.
 */
import { MAX_GROUP_WORDS, MAX_LINE_BYTES, MAX_WORDS } from './bounds.ts';
import {
  BRACE,
  CLASS_OF,
  COLON,
  DIGIT,
  EQUALS,
  IN_QUERY,
  NEWLINE,
  PARTING,
  PLACEHOLDER_BYTE,
  QUESTION,
  QUOTE,
  SLASH,
} from './byte-classes.ts';
import {
  behindMessageKey,
  endOfLogfmtMessage,
  endOfQuoted,
  isMessageKey,
  messageBehindKey,
} from './message-fields.ts';

/** Compared as text. */
export const WORD_TEXT = 0;
/** Holds a digit, or is a path with a query: expected to vary, whatever it is. */
export const WORD_VALUE = 1;
/** Always a placeholder. */
export const WORD_ANY = 2;

/** A line's words, what lies behind them, and what lies around a message. */
const CAPACITY = MAX_WORDS + 3;
const SEED = 0x811c9dc5 | 0;
const PRIME = 0x01000193;
const WORD_MARK = 0x1f3;
const VALUE_MARK = 0x2f7;

export class LineTokens {
  source: Buffer = Buffer.alloc(0);
  /** What the words and gaps cover. */
  from = 0;
  to = 0;
  count = 0;
  readonly start = new Uint32Array(CAPACITY);
  readonly end = new Uint32Array(CAPACITY);
  readonly hash = new Int32Array(CAPACITY);
  /** WORD_TEXT, WORD_VALUE or WORD_ANY. */
  readonly kind = new Uint8Array(CAPACITY);
  /** Lines of different groups share no cluster. */
  group = 0;
  /** Equal for equal gaps and groups. */
  skeleton = 0;
  /** Equal for equal gaps, groups and words of text. */
  shape = 0;
  private readsTemplate = false;

  /** Takes a line apart. */
  read(source: Buffer, from: number, to: number, group = 0): void {
    this.readsTemplate = false;
    this.group = group;
    this.begin(source, from, to);
    if (!this.readWords(from, to, source[from] === BRACE)) return;
    this.digest();
  }

  /** Takes the bytes of a template apart: no part of it is looked for or made shorter. */
  readTemplate(source: Buffer): void {
    this.readsTemplate = true;
    this.begin(source, 0, source.length);
    this.readWords(0, source.length, false);
    this.digest();
  }

  private begin(source: Buffer, from: number, to: number): void {
    this.source = source;
    this.from = from;
    this.to = to;
    this.count = 0;
  }

  /** False where a message was found, which has been read instead. */
  private readWords(from: number, to: number, isJson: boolean): boolean {
    const { source, start, end, readsTemplate } = this;
    const limit = readsTemplate ? to : Math.min(to, from + MAX_LINE_BYTES);
    let quoteAt = -1;
    let quoteWords = 0;
    let bracketAt = -1;
    let bracketWords = 0;
    let closing = -1;
    let isLogfmt = false;
    let at = from;
    while (at < limit) {
      const byte = source[at];
      const kind = CLASS_OF[byte];
      if (kind === PARTING || kind === COLON) {
        const words = this.count;
        if (byte === QUOTE) {
          if (isJson && words > 0 && end[words - 1] === at && isMessageKey(source, start[words - 1], at)) {
            const value = messageBehindKey(source, start[words - 1], at, to);
            if (value >= 0)
              return this.readMessage(start[words - 1] - 1, value, endOfQuoted(source, value, to));
          }
          if (quoteAt >= 0) {
            if (this.shorten(quoteWords, quoteAt + 1, at, MAX_GROUP_WORDS)) bracketAt = -1;
            quoteAt = -1;
          } else {
            quoteAt = at;
            quoteWords = words;
          }
        } else if (byte === 0x5b || byte === 0x28) {
          bracketAt = at;
          bracketWords = words;
          closing = byte === 0x5b ? 0x5d : 0x29;
        } else if (byte === closing && bracketAt >= 0) {
          const most = this.areValues(bracketWords) ? 1 : MAX_GROUP_WORDS;
          if (this.shorten(bracketWords, bracketAt + 1, at, most) && quoteAt > bracketAt) quoteAt = -1;
          bracketAt = -1;
        } else if (byte === EQUALS && words > 0 && end[words - 1] === at) {
          if (words === 1 && start[0] === from) isLogfmt = !readsTemplate && !isJson;
          if (isLogfmt && isMessageKey(source, start[words - 1], at)) {
            const first = start[words - 1];
            const found = endOfLogfmtMessage(source, at + 1, to);
            if (found >= 0 && (first === from || source[first - 1] === 0x20)) {
              return this.readMessage(first === from ? first : first - 1, at + 1, found);
            }
            isLogfmt = false;
          }
        }
        at++;
        // What follows the first line, such as a stack trace, varies in length.
        if (byte === NEWLINE && words > 0 && !readsTemplate) break;
        continue;
      }
      if (this.count >= MAX_WORDS && !readsTemplate) break;
      if (readsTemplate && at === 2 && this.count === 1 && this.kind[0] === WORD_ANY) {
        const value = behindMessageKey(source, at);
        if (value > at) {
          at = value;
          continue;
        }
      }
      const next = this.readWord(at, limit, kind);
      if (next < 0) break;
      at = next;
    }
    if (at < to) this.push(at, to, 0, WORD_ANY);
    return true;
  }

  /** Reads the word at `at`; where it ends, or -1 where the bound on lines cuts it, or no word may follow. */
  private readWord(at: number, limit: number, kind: number): number {
    const { source } = this;
    let hash = SEED;
    let kinds = kind;
    let stop = at;
    let next = kind;
    do {
      hash = Math.imul(hash ^ source[stop++], PRIME);
      kinds |= next;
      next = stop < limit ? CLASS_OF[source[stop]] : PARTING;
    } while (next !== PARTING);
    const isPath = (kinds & SLASH) !== 0 && stop < limit && source[stop] === QUESTION;
    if (isPath) {
      while (stop < limit && IN_QUERY[source[stop]] === 1) hash = Math.imul(hash ^ source[stop++], PRIME);
    }
    if (this.count >= CAPACITY - 1 || (stop === limit && limit < this.to)) return -1;
    const isAny = stop - at === 1 && source[at] === PLACEHOLDER_BYTE;
    this.push(at, stop, hash, isAny ? WORD_ANY : isPath || (kinds & DIGIT) !== 0 ? WORD_VALUE : WORD_TEXT);
    return stop;
  }

  /**
   * The message whose field begins at `first`, its text at `text`, with what is around it. The key is no word, so that it
   * never varies: it is what finds the message in the line. False, as readWords then answers.
   */
  private readMessage(first: number, text: number, last: number): false {
    const { source, from, to } = this;
    this.count = 0;
    if (first > from) this.push(from, first, 0, WORD_ANY);
    const limit = Math.min(last, text + MAX_LINE_BYTES);
    // The last words are those around the message.
    const most = MAX_WORDS - 2;
    let at = text;
    while (at < limit) {
      const kind = CLASS_OF[source[at]];
      if (kind === PARTING || kind === COLON) {
        at++;
        continue;
      }
      const next = this.count >= most ? -1 : this.readWord(at, limit, kind);
      if (next < 0) break;
      at = next;
    }
    if (at < to) this.push(at, to, 0, WORD_ANY);
    this.digest();
    return false;
  }

  /** True of lists of numbers, and of dates. */
  private areValues(first: number): boolean {
    for (let i = first; i < this.count; i++) if (this.kind[i] === WORD_TEXT) return false;
    return true;
  }

  /** Makes the words from number `first` on one, where they are more than `most`. */
  private shorten(first: number, from: number, to: number, most: number): boolean {
    if (this.readsTemplate || this.count - first <= most) return false;
    this.count = first;
    this.push(from, to, 0, WORD_ANY);
    return true;
  }

  private push(start: number, end: number, hash: number, kind: number): void {
    const i = this.count++;
    this.start[i] = start;
    this.end[i] = end;
    this.hash[i] = hash;
    this.kind[i] = kind;
  }

  /** Makes all behind the first `words` words one placeholder. */
  cut(words: number): void {
    if (this.count <= words) return;
    this.count = words;
    this.push(this.start[words], this.to, 0, WORD_ANY);
    this.digest();
  }

  private digest(): void {
    const { source, start, end, hash, kind, count, to } = this;
    let skeleton = Math.imul(SEED ^ this.group, PRIME);
    let shape = SEED;
    let at = this.from;
    for (let i = 0; i < count; i++) {
      for (const stop = start[i]; at < stop; at++) skeleton = Math.imul(skeleton ^ source[at], PRIME);
      skeleton = Math.imul(skeleton ^ WORD_MARK, PRIME);
      shape = Math.imul(shape ^ (kind[i] === WORD_TEXT ? hash[i] : VALUE_MARK), PRIME);
      shape ^= shape >>> 15;
      at = end[i];
    }
    for (; at < to; at++) skeleton = Math.imul(skeleton ^ source[at], PRIME);
    skeleton ^= skeleton >>> 15;
    this.skeleton = skeleton;
    shape = Math.imul(shape ^ skeleton, PRIME);
    this.shape = shape ^ (shape >>> 13);
  }
}

/**
 * Templates: the stored form of clusters. A template has the bytes of a line, with one byte for each
 * placeholder. The pattern is the same as text. Templates with the same structure can be compared and joined.
 *
 * Pitfall: joining never creates a new structure, except for ends. Inside a line, a placeholder represents
 * one word, or the inside of quotes or brackets. So the text after it is found at the right position. A
 * placeholder for a variable number of words would end too early in some lines.
 */
import { WORD_ANY, WORD_TEXT } from '../../base/kernels/line-words.ts';
import { PLACEHOLDER_BYTE } from './byte-classes.ts';
import { wordsOfTemplate } from './template-words.ts';

const PLACEHOLDER = '<_>';

export interface LineTemplate {
  /** Bytes as latin1: the same text for the same bytes. */
  readonly key: string;
  /** Gaps between words, as one string. */
  readonly structure: string;
  /** Words as latin1; `undefined` for a placeholder. */
  readonly words: readonly (string | undefined)[];
  /** 1 for words of text. */
  readonly isText: Uint8Array;
  /** Start of each word in `key`. */
  readonly starts: readonly number[];
}

/** Placeholder in templates as latin1. */
const PLACEHOLDER_CHARACTER = String.fromCharCode(PLACEHOLDER_BYTE);

/** Pattern in the syntax of `|>`. */
export function patternOf(key: string): string {
  return key
    .split(PLACEHOLDER_CHARACTER)
    .map(literal => Buffer.from(literal, 'latin1').toString())
    .join(PLACEHOLDER);
}

/** Splits a template into words. */
export function parseLineTemplate(key: string): LineTemplate {
  const found = wordsOfTemplate(Buffer.from(key, 'latin1'));
  let structure = '';
  let at = 0;
  for (const { start, end } of found) {
    structure += `${key.slice(at, start)}${PLACEHOLDER_CHARACTER}`;
    at = end;
  }
  structure += key.slice(at);
  const words = found.map(({ start, end, kind }) => (kind === WORD_ANY ? undefined : key.slice(start, end)));
  const isText = Uint8Array.from(found, ({ kind }) => (kind === WORD_TEXT ? 1 : 0));
  return { key, structure, words, isText, starts: found.map(({ start }) => start) };
}

/** Template that matches the lines of both, which have the same structure. */
export function joinTemplates(a: LineTemplate, b: LineTemplate): LineTemplate {
  const gaps = a.structure.split(PLACEHOLDER_CHARACTER);
  let key = gaps[0];
  const words: (string | undefined)[] = [];
  const starts: number[] = [];
  const isText = new Uint8Array(a.words.length);
  for (let i = 0; i < a.words.length; i++) {
    const word = a.words[i] === b.words[i] ? a.words[i] : undefined;
    words.push(word);
    starts.push(key.length);
    isText[i] = word === undefined ? 0 : a.isText[i];
    key += `${word ?? PLACEHOLDER_CHARACTER}${gaps[i + 1]}`;
  }
  return { key, structure: a.structure, words, isText, starts };
}

/** Template that begins like this one, up to its word `number`, and ends in any way. */
export function beginningOf({ key, starts }: LineTemplate, number: number): string {
  return `${key.slice(0, starts[number])}${PLACEHOLDER_CHARACTER}`;
}

/**
 * The level of a line of free text: the first word that names one, in any letter case, between word boundaries. What
 * may stand before a word and what may follow it differ: a colon ends a word but does not begin one.
 */
import { LEVELS, UNKNOWN } from './level-words.ts';

const LEFT = ' \t\n[({"\'=|';
const RIGHT = `${LEFT}])}:,!`;

const BOUNDARY = 1;
const FIRST_LETTER = 2;

const WORDS: readonly (readonly [string, (typeof LEVELS)[number]])[] = [
  ['trace', 'trace'],
  ['debug', 'debug'],
  ['fatal', 'fatal'],
  ['critical', 'critical'],
  ['error', 'error'],
  ['err', 'error'],
  ['warning', 'warn'],
  ['warn', 'warn'],
  ['info', 'info'],
];

interface Word {
  readonly letters: Uint8Array;
  readonly code: number;
}

/** Of each byte: whether a word may follow it or begin with it. No byte is both. */
const kind = new Uint8Array(256);
const endsWord = new Uint8Array(256);
for (const byte of Buffer.from(LEFT)) kind[byte] = BOUNDARY;
for (const byte of Buffer.from(RIGHT)) endsWord[byte] = 1;
/** Words by the lower five bits of their first letter, which are the same in both cases. */
const wordsByLetter: Word[][] = Array.from({ length: 32 }, () => []);
for (const [text, level] of WORDS) {
  const letters = Buffer.from(text);
  kind[letters[0]] = FIRST_LETTER;
  kind[letters[0] - 0x20] = FIRST_LETTER;
  wordsByLetter[letters[0] & 31].push({ letters, code: LEVELS.indexOf(level) });
}

/** Code of the level; UNKNOWN where the line has no such word. */
export function levelOfText(bytes: Uint8Array, start: number, end: number): number {
  let before = BOUNDARY;
  for (let at = start; at < end; at++) {
    const now = kind[bytes[at]];
    if (now === FIRST_LETTER && before === BOUNDARY) {
      const code = wordAt(bytes, at, end);
      if (code !== UNKNOWN) return code;
    }
    before = now;
  }
  return UNKNOWN;
}

function wordAt(bytes: Uint8Array, at: number, end: number): number {
  const words = wordsByLetter[bytes[at] & 31];
  for (let w = 0; w < words.length; w++) {
    const { letters, code } = words[w];
    const after = at + letters.length;
    if (after > end || (after < end && endsWord[bytes[after]] === 0)) continue;
    let i = 1;
    while (i < letters.length && (bytes[at + i] | 0x20) === letters[i]) i++;
    if (i === letters.length) return code;
  }
  return UNKNOWN;
}

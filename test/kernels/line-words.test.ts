/** Words of lines are those of the plain version, of any bytes, and nothing else is touched. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineWords, WORD_TEXT } from '../../shared/base/kernels/line-words.ts';
import { CORPORA, makeCorpus } from '../patterns/corpora.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostileText, mixedText, pageOf } from './hostile.ts';
import { wordsOfLine } from './oracles/line-words.ts';

const piece = fc.oneof(
  fc.constantFrom(
    'job',
    'done',
    'a-b',
    '12',
    'x7',
    '/a/b?c=1&d',
    '/a',
    'é',
    '1.5',
    '10:22:01',
    'log',
    'content',
  ),
  fc.constantFrom('msg=', '"msg":"', '"message": "', ' _msg=', 'msg_="', 'a=1 msg=x ', '{"a":1,"msg":"b c"}'),
  fc.constantFrom(...' \t\n[](){}"=|:,;!?&<>\\\0\xff'.split('')),
);
const sentence = fc.array(piece, { maxLength: 40 }).map(parts => Buffer.from(parts.join(''), 'latin1'));
const spaced = fc.array(piece, { maxLength: 90 }).map(parts => Buffer.from(parts.join(' '), 'latin1'));
const object = sentence.map(inside => Buffer.concat([Buffer.from('{"'), inside, Buffer.from('"}')]));
const pairs = fc.oneof(sentence, spaced).map(rest => Buffer.concat([Buffer.from('ts=1 '), rest]));
const lines = fc.array(fc.oneof(sentence, spaced, object, pairs, hostileText), { maxLength: 12 });

let guard: Guard;
let words: LineWords;
let shapes = new Map<number, string>();

function expectWords(all: readonly Buffer[], cut?: number): void {
  const { lines: bytes, lineOffsets, rows } = pageOf(all);
  words.begin(bytes, lineOffsets);
  const longest = Math.max(1024 * 1024, ...all.map(({ length }) => length));
  guard.allow([[4096, words.memoryBytes(longest)]]);
  for (let row = 0; row < rows; row++) {
    words.enter(row, row % 3);
    const line = all[row];
    let expected = wordsOfLine(line);
    if (cut !== undefined) {
      words.cut(cut);
      if (expected.length > cut)
        expected = [...expected.slice(0, cut), { start: expected[cut].start, end: line.length, kind: 2 }];
    }
    const found = Array.from({ length: words.count }, (_, i) => {
      const word = words.first + i;
      return `${words.start[word] - words.from}-${words.end[word] - words.from}:${words.kind[word]}`;
    });
    expect(found.join(' ')).toBe(expected.map(({ start, end, kind }) => `${start}-${end}:${kind}`).join(' '));
    expect(words.source.subarray(words.from, words.to).equals(line)).toBe(true);
    expectHashes(line, expected);
  }
  for (let row = 0; row < rows; row++) expectRepeated(all, row);
  expect(guard.faults).toEqual([]);
}

/** Gaps and words of text; other words as one byte. */
function structureOf(line: Buffer): string {
  const text = line.latin1Slice();
  let structure = '';
  let at = 0;
  for (const { start, end, kind } of wordsOfLine(line)) {
    structure += `${text.slice(at, start)}\0${kind === WORD_TEXT ? text.slice(start, end) : ''}\0`;
    at = end;
  }
  return structure + text.slice(at);
}

/** A row repeats one with the same structure, and the words that differ are known. */
function expectRepeated(all: readonly Buffer[], row: number): void {
  const repeated = words.repeatedRow(row);
  if (repeated === row) return;
  expect(repeated).toBeLessThan(row);
  expect(structureOf(all[repeated])).toBe(structureOf(all[row]));
  const textsOf = (line: Buffer) => wordsOfLine(line).map(({ start, end }) => line.latin1Slice(start, end));
  const texts = textsOf(all[row]);
  const same = textsOf(all[repeated]).map((text, i) => (text === texts[i] ? 1 : 0));
  const fixed = new Uint8Array(texts.length).fill(1);
  words.clearVaried(row, fixed);
  expect([...fixed]).toEqual(same);
}

/**
 * Equal words have equal shapes and hashes, and different words different ones, except for chances of one in
 * billions.
 */
function expectHashes(line: Buffer, expected: ReturnType<typeof wordsOfLine>): void {
  const text = line.latin1Slice();
  let gaps = `${words.group}`;
  let shape = '';
  let at = 0;
  for (const [i, { start, end, kind }] of expected.entries()) {
    gaps += `${text.slice(at, start)}\0W`;
    const word = text.slice(start, end);
    shape += kind === WORD_TEXT ? `${word}\0T` : '\0V';
    const hash = words.hash[words.first + i];
    if (kind === WORD_TEXT) note(hash, `word ${word}`);
    else if (hash !== 0) throw new Error(`${word} has a hash`);
    at = end;
  }
  gaps += text.slice(at);
  note(words.skeleton, `gaps ${gaps}`);
  note(words.shape, `shape ${gaps}\0S${shape}`);
}

const known = new Map<string, number>();

function note(hash: number, what: string): void {
  const kind = what.slice(0, 4);
  const key = hash + (kind === 'word' ? 0 : kind === 'gaps' ? 2 ** 33 : 2 ** 34);
  if ((shapes.get(key) ?? what) !== what) throw new Error(`${what} and ${shapes.get(key)} have one hash`);
  if ((known.get(what) ?? hash) !== hash) throw new Error(`${what} has two hashes`);
  shapes.set(key, what);
  known.set(what, hash);
}

// The instance is made under guard.
describe('words of lines under guard', () => {
  beforeAll(() => {
    guard = guardKernels();
    words = new LineWords();
  });
  afterAll(() => {
    guard.release();
    shapes = new Map();
  });

  test('are those of the plain version, of any bytes', () => {
    fc.assert(
      fc.property(lines, fc.option(fc.nat(4), { nil: undefined, freq: 3 }), (all, cut) =>
        expectWords(all, cut),
      ),
      { numRuns: 1_500 },
    );
    expect(guard.accesses).toBeGreaterThan(10_000);
  });

  test('splits lines of logs into the words of the plain version', () => {
    for (const name of Object.keys(CORPORA))
      expectWords(makeCorpus(name, 300).map(({ line }) => Buffer.from(line)));
  });

  test('splits words at each place of a block', () => {
    for (let length = 0; length < 140; length++) {
      expectWords([
        Buffer.from(`${'x'.repeat(length)} ab12 /c?d=1 "a b c d e f g h" [1, 2]`),
        Buffer.from(`{"${'x'.repeat(length)}":1,"msg":"a b1 \\" c","d":2}`),
        Buffer.from(`a=${'x'.repeat(length)} msg="a b1 c" d=2`),
        Buffer.from(`${' '.repeat(length)}é`),
      ]);
    }
  });

  test('finds a message after each number of words, and none after a line feed', () => {
    for (let count = 0; count < 70; count++) {
      for (const word of ['a', 'ab', 'a1=2', '"a"', '(a b c d e f g)', ':a']) {
        const before = `${word} `.repeat(count);
        expectWords([
          Buffer.from(`{${before}"msg":"a b","c":1}`),
          Buffer.from(`{${before}"msg":1,"log": "a b"}`),
          Buffer.from(`{${before}\n"msg":"a b"}`),
          Buffer.from(`a=1 ${before}msg="a b" c`),
          Buffer.from(`a=1 ${before}\nmsg="a b" c`),
          Buffer.from(`a=1 ${before}msg= msg="a b"`),
        ]);
      }
    }
  });

  test('finds only keys that are whole words', () => {
    for (const before of [
      '',
      ' ',
      'x',
      '_',
      ':',
      ': ',
      '?',
      '/a?b=1&',
      '/a?b=1 ',
      '"',
      '=',
      '{',
      '.',
      '\xff',
    ]) {
      for (const key of ['log', 'msg', '_msg', 'msg_', 'message', 'content', 'essage', 'Msg', 'catalog']) {
        expectWords([
          Buffer.from(`${key}=a b`, 'latin1'),
          Buffer.from(`a=1${before}${key}=a b msg="c d"`, 'latin1'),
          Buffer.from(`{"a":1,${before}${key}":"b c","msg":"d e"}`, 'latin1'),
          Buffer.from(`{"a":1,"${before}${key}": "b c","msg":"d e"}`, 'latin1'),
          Buffer.from(`{${before}"${key}":"b c"}`, 'latin1'),
        ]);
      }
    }
  });

  test('finds lines that repeat earlier ones', () => {
    const all = ['job 1 done', 'job 2 done', 'job 2 gone', 'job 1 done', `job ${'a '.repeat(62)}`].map(
      Buffer.from,
    );
    const wide = Buffer.from(`${'1 '.repeat(63)}2`);
    const { lines: bytes, lineOffsets } = pageOf([...all, wide, wide]);
    words.begin(bytes, lineOffsets);
    guard.allow([[4096, words.memoryBytes(bytes.length)]]);
    expect(Array.from({ length: 7 }, (_, row) => words.repeatedRow(row))).toEqual([0, 0, 2, 0, 4, 5, 5]);
    const varied = [1, 3, 6].map(row => {
      const fixed = new Uint8Array(64).fill(1);
      words.clearVaried(row, fixed);
      return [fixed.indexOf(0), fixed.filter(word => word === 0).length];
    });
    expect(varied).toEqual([
      [1, 1],
      [-1, 0],
      [-1, 0],
    ]);
    expect(guard.faults).toEqual([]);
  });

  test('around the bounds on lines and words', () => {
    for (const length of [2040, 2046, 2047, 2048, 2049, 2050, 4100]) {
      expectWords([
        Buffer.from(`${'x'.repeat(length)} a`),
        Buffer.from(`${'x '.repeat(length / 2)}a`),
        Buffer.from(`${' '.repeat(length)}msg=a b`),
        Buffer.from(`{${' '.repeat(length - 10)}"msg":"${'b '.repeat(20)}${' '.repeat(length)}c"}`),
        Buffer.from(`a=${'x'.repeat(length - 10)} msg=${'y'.repeat(length)} b`),
      ]);
    }
  });

  test('splits lines of 10 MB among many short ones, more words than the list holds, and no lines', () => {
    const long = 'nothing to see here, \\"really\\" '.repeat(350_000);
    const short = Array.from({ length: 9_000 }, (_, i) => Buffer.from(`${i} took ${'a '.repeat(i % 70)}`));
    expectWords([
      ...short,
      Buffer.from(long),
      Buffer.from(`{"msg":"${long}","a":1}`),
      Buffer.from(`a=1 msg=${long.replaceAll(' ', '_')}`),
      mixedText(10_000_000),
      Buffer.alloc(3_000_000),
      ...short.slice(0, 10),
    ]);
    expectWords([]);
    expectWords([Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(0)]);
  });
});

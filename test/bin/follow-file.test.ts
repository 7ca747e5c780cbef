/** A file that grows, is moved away and is cut, as `push --follow` reads it; the clock is that of the test. */
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FilePosition } from '../../bin/cli/file-position.ts';
import { FollowedFile } from '../../bin/cli/follow-file.ts';
import { readPosition, writePosition } from '../../bin/cli/positions-file.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-follow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let file: string;
let number = 0;
beforeEach(() => {
  file = join(folder, `${number++}.log`);
});

/**
 * Reads until the steps are used up: one runs each time that the reader has nothing to read. Resolves to the
 * read text, with the position after it.
 */
async function follow(
  steps: readonly (() => void)[],
  options: { from?: FilePosition; atEnd?: boolean } = {},
): Promise<{ text: string; position: FilePosition | undefined; notes: string[] }> {
  const stopping = new AbortController();
  const left = [...steps];
  const notes: string[] = [];
  const clock = {
    ...SYSTEM_CLOCK,
    sleep: async () => {
      const step = left.shift();
      if (step === undefined) stopping.abort();
      else step();
    },
  };
  const followed = new FollowedFile(file, {
    ...options,
    clock,
    signal: stopping.signal,
    note: note => notes.push(note),
  });
  let text = '';
  for await (const piece of followed) text += piece.toString();
  const position = await followed.positionAt(Buffer.byteLength(text));
  await followed.close();
  return { text, position, notes };
}

describe('a followed file', () => {
  test('returns existing and added lines', async () => {
    writeFileSync(file, 'one\n');
    const { text, notes } = await follow([
      () => appendFileSync(file, 'tw'),
      () => appendFileSync(file, 'o\n'),
    ]);
    expect(text).toBe('one\ntwo\n');
    expect(notes).toEqual([]);
  });

  test('can appear later, and can be read from its end', async () => {
    const late = await follow([() => {}, () => writeFileSync(file, 'late\n')]);
    expect(late).toMatchObject({
      text: 'late\n',
      notes: [`file ${file} does not exist yet; waiting for it`],
    });
    const end = await follow([() => appendFileSync(file, 'new\n')], { atEnd: true });
    expect(end.text).toBe('new\n');
  });

  test('a file that is moved away is read to its end, with its last line', async () => {
    writeFileSync(file, 'old\n');
    const { text } = await follow([
      () => renameSync(file, `${file}.1`),
      () => appendFileSync(`${file}.1`, 'last words'),
      () => writeFileSync(file, 'new\n'),
    ]);
    expect(text).toBe('old\nlast words\nnew\n');
  });

  test('a file that is truncated is read from its start', async () => {
    writeFileSync(file, 'long enough\nhalf');
    const cut = () => {
      truncateSync(file);
      appendFileSync(file, 'anew\n');
    };
    const { text, notes } = await follow([cut]);
    expect(text).toBe('long enough\nhalf\nanew\n');
    expect(notes).toEqual([`${file} was truncated; reading it from its start`]);
  });
});

describe('position in a followed file', () => {
  test('continues with the next reader, also under another name', async () => {
    writeFileSync(file, 'one\n');
    const first = await follow([]);
    expect(first.position).toMatchObject({ offset: 4, headBytes: 4 });
    appendFileSync(file, 'two\n');
    renameSync(file, `${file}-2026-01-05`);
    writeFileSync(file, 'three\n');
    const second = await follow([], { from: first.position });
    expect(second.text).toBe('two\nthree\n');
    expect(second.position!.offset).toBe(6);
  });

  test('is ignored if the file is another one with the same inode', async () => {
    writeFileSync(file, 'one\n');
    const { position } = await follow([]);
    // Replaced in place: the same inode with other bytes.
    writeFileSync(file, 'another\n');
    expect(`${statSync(file).ino}`).toBe(position!.file.split(':')[1]);
    const { text, notes } = await follow([], { from: position });
    expect(text).toBe('another\n');
    expect(notes[0]).toMatch(/^the previously read file is gone/);
  });

  test('is stored in a file with those of other files', () => {
    const positions = join(folder, 'positions.json');
    const position = (offset: number): FilePosition => ({ file: '1:2', offset, head: 'ab', headBytes: 3 });
    expect(readPosition(positions, '/a')).toBeUndefined();
    writePosition(positions, '/a', position(1));
    writePosition(positions, '/b', position(2));
    writePosition(positions, '/a', position(3));
    expect(readPosition(positions, '/a')).toEqual(position(3));
    expect(readPosition(positions, '/b')).toEqual(position(2));
    writeFileSync(positions, '{"version":99}');
    expect(() => readPosition(positions, '/a')).toThrow('is not a positions file');
  });
});

import { describe, expect, test } from '@jest/globals';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { writerOf } from '../../shared/base/ports/object-writer.ts';
import { withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { RowHasher } from '../../shared/upkeep/compaction/fingerprint.ts';
import { type MergeInput, type MergeOptions, mergeChunks } from '../../shared/upkeep/compaction/merge.ts';
import { MAX_OPEN_PAGES_BYTES, MergeTooLargeError } from '../../shared/upkeep/compaction/merge-bounds.ts';
import { MergeOutput, readObject } from '../../shared/upkeep/compaction/merge-output.ts';
import { type PlainEntry, rowsOf } from '../support/rows.ts';
import { fingerprintOf } from './support/fingerprint-of.ts';
import {
  chunkId,
  DAY,
  DAY_START,
  inputOf,
  inputsOf,
  merge,
  objectOf,
  pagesOf,
} from './support/merge-chunks.ts';

const entry = (app: string, time: number, line: string, metadata = {}): PlainEntry => ({
  stream: { app },
  time,
  line,
  metadata,
});
const FIRST = [entry('a', 5, 'first line', { trace: 'x' }), entry('b', 7, 'second '.repeat(20))];
const SECOND = [entry('a', 6, 'third', { detected_level: 'warn' }), entry('c', 1, '')];
const HEAD = { tenant: 't-1', day: DAY, level: 1, createdMs: 2, inputs: [] };
const newWriter = () => writerOf(memoryObjectStore());
const noPause = async () => undefined;
const OPTIONS = { compression: QUICK_COMPRESSION, hasher: new RowHasher(), dayStartNs: DAY_START };

/** Error of a merge, and the number of objects that it had stored before. */
async function failureOf(
  inputs: readonly MergeInput[],
  options: Partial<MergeOptions> = {},
): Promise<{ error: unknown; emitted: number }> {
  let emitted = 0;
  const all: MergeOptions = {
    ...HEAD,
    newId: () => chunkId(0xf000 + emitted),
    newWriter,
    compression: QUICK_COMPRESSION,
    ...options,
  };
  try {
    await mergeChunks(inputs, all, async () => void emitted++);
    return { error: undefined, emitted };
  } catch (error) {
    return { error, emitted };
  }
}

describe('a broken input', () => {
  test('is a corruption that names the chunk, and nothing is emitted', async () => {
    const [one, two] = await Promise.all([objectOf(FIRST, chunkId(1)), objectOf(SECOND, chunkId(2))]);
    expect(await failureOf([inputOf(one), inputOf(two)])).toEqual({ error: undefined, emitted: 1 });
    const { footer } = inputOf(two);
    for (let at = 0; at < footer.pages[0].storedBytes; at++) {
      const damaged = Buffer.from(two);
      damaged[at] ^= 0x41;
      const input = {
        footer,
        storedBytes: two.length,
        read: async (start: number, end: number) => damaged.subarray(start, end),
      };
      const { error, emitted } = await failureOf([inputOf(one), input]);
      expect(error).toBeInstanceOf(CorruptionError);
      expect(String(error)).toContain(`chunk t-1/${chunkId(2)}`);
      expect(emitted).toBe(0);
    }
  });

  test.each<[string, (input: MergeInput) => MergeInput, RegExp]>([
    [
      'gives fewer bytes',
      input => ({ ...input, read: async (s, e) => input.read(s, e - 1) }),
      /bytes, expected/,
    ],
    ['is shorter than its pages', input => ({ ...input, storedBytes: 3 }), /a page ends at \d+ of 3 bytes/],
    ['says other rows', input => ({ ...input, footer: { ...input.footer, rows: 3 } }), /2 of 3 rows/],
    [
      'is out of order',
      input => {
        const streams = input.footer.streams.slice().reverse();
        return { ...input, footer: { ...input.footer, streams } };
      },
      /rows out of order/,
    ],
  ])('an input that %s is a corruption', async (_, change, message) => {
    const [one, two] = await inputsOf([FIRST, SECOND]);
    const { error } = await failureOf([one, change(two)]);
    expect(error).toBeInstanceOf(CorruptionError);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain(`chunk t-1/${chunkId(2)}`);
  });
});

describe('a merge ends with', () => {
  test('the error of the store', async () => {
    const [one, two] = await inputsOf([FIRST, SECOND]);
    const gone = new Error('the object is gone');
    const broken = { ...two, read: async () => Promise.reject(gone) };
    expect(await failureOf([one, broken])).toEqual({ error: gone, emitted: 0 });
  });

  test('ends with the reason of its signal', async () => {
    const inputs = await inputsOf([FIRST, SECOND]);
    const controller = new AbortController();
    const reason = new Error('enough');
    controller.abort(reason);
    expect((await failureOf(inputs, { signal: controller.signal })).error).toBe(reason);
  });

  test('the error of a pause, which comes between the pages of a large input', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => entry('a', i, `${i}`));
    const inputs = await inputsOf([lines]);
    let pauses = 0;
    await merge(inputs, { pause: async () => void pauses++ });
    expect(pauses).toBeGreaterThan(1);
    const lost = new Error('the lease is lost');
    expect((await failureOf(inputs, { pause: () => Promise.reject(lost) })).error).toBe(lost);
  });

  test.each<[string, (inputs: MergeInput[]) => MergeInput[], string]>([
    ['each chunk once', ([one]) => [one, one], 'a merge has each chunk once'],
    [
      'one day',
      ([one, two]) => [one, { ...two, footer: { ...two.footer, day: DAY + 1 } }],
      'a merge has chunks of one tenant and day',
    ],
    [
      'one tenant',
      ([one, two]) => [{ ...one, footer: { ...one.footer, tenant: 'other' } }, two],
      'a merge has chunks of one tenant and day',
    ],
  ])('an invariant if its inputs are not %s', async (_, change, message) => {
    const { error } = await failureOf(change(await inputsOf([FIRST, SECOND])));
    expect(String(error)).toContain(message);
  });

  test('MergeTooLargeError if the open pages would exceed their bound', async () => {
    const [one, two] = await inputsOf([FIRST, SECOND]);
    const [page] = one.footer.pages;
    const pages = [{ ...withDecodedColumns(page), lineBytes: MAX_OPEN_PAGES_BYTES }];
    const { error } = await failureOf([{ ...one, footer: { ...one.footer, pages } }, two]);
    expect(error).toBeInstanceOf(MergeTooLargeError);
  });
});

describe('compaction.preserves-entries', () => {
  test.each<[string, PlainEntry[]]>([
    ['lost', FIRST.slice(0, 1)],
    ['added', [...FIRST, entry('c', 1, 'x')]],
    ['changed in its line', [FIRST[0], { ...FIRST[1], line: 'sEcond '.repeat(20) }]],
    ['changed in its time', [FIRST[0], { ...FIRST[1], time: 8 }]],
    ['given to another stream', [FIRST[0], { ...FIRST[1], stream: { app: 'c' } }]],
    ['changed in a value', [{ ...FIRST[0], metadata: { trace: 'y' } }, FIRST[1]]],
    [
      'given the metadata of another',
      [
        { ...FIRST[0], metadata: {} },
        { ...FIRST[1], metadata: { trace: 'x' } },
      ],
    ],
    ['doubled', [FIRST[0], FIRST[0], FIRST[1]]],
  ])('is broken if an entry was %s', async (_, written) => {
    const made = new MergeOutput(chunkId(9), newWriter(), OPTIONS);
    const expected = fingerprintOf(pagesOf(await objectOf(FIRST, chunkId(1))));
    expect(() => made.add(rowsOf(written), expected, false)).toThrow(
      'invariant broken: compaction.preserves-entries',
    );
  });

  test('is corrupt if the object differs from the written bytes', async () => {
    const writer = newWriter();
    const made = new MergeOutput(chunkId(9), writer, OPTIONS);
    made.add(rowsOf(FIRST), fingerprintOf(pagesOf(await objectOf(FIRST, chunkId(1)))), false);
    const { chunk } = await made.finish(HEAD, noPause);
    const damaged = {
      async read(start: number, end: number) {
        const bytes = await writer.read(start, end);
        if (start === 0) bytes[0] ^= 1;
        return bytes;
      },
    };
    await expect(readObject(chunk, writer, noPause)).resolves.toMatchObject({ rows: 2 });
    await expect(readObject(chunk, damaged, noPause)).rejects.toThrow(CorruptionError);
  });
});

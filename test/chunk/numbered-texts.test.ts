/** Texts with a number, as fields read them: those that the kernel stored, and damage is found. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { ByteReader } from '../../shared/storage/codec/byte-io.ts';
import { numberedTexts } from '../../shared/storage/columns/numbered-texts.ts';
import { SPLIT_NUMBERED, SplitFrame } from '../../shared/storage/columns/split-frame.ts';
import { numberedValues, pageOfTexts } from '../kernels/shaped-lines.ts';
import { bySuite } from '../support/suite.ts';

/** The column of texts with a number, or undefined if the values are stored in another way. */
function columnOf(texts: readonly string[]) {
  const page = pageOfTexts(texts.map(text => `{"k":"${text}"}`));
  const { frame, columns } = splitLines(page)!;
  const layout = new SplitFrame(Buffer.from(frame), page.rows, 'a page');
  let at = 0;
  for (let column = 0; column < layout.columns; column++) {
    const record = layout.recordOf(column);
    if (record.type === SPLIT_NUMBERED && record.width <= 6)
      return { record, bytes: Buffer.from(columns.subarray(at, at + record.bytes)) };
    at += record.bytes;
  }
  return undefined;
}

const PLAIN = /^-?(0|[1-9]\d*)(\.\d+)?$/;
const SHORT = /^[1-9]\d{0,8}$/;

test('texts and their numbers come back; bytes that are changed or cut off are found, or give as many texts', () => {
  let found = 0;
  fc.assert(
    fc.property(numberedValues, fc.nat(), fc.integer({ min: 1, max: 255 }), (texts, at, change) => {
      const column = columnOf(texts);
      const own = texts.filter(text => text !== '');
      if (column?.record.count !== own.length) return;
      found++;
      const { record, bytes } = column;
      const read = (from: Buffer) => numberedTexts(record, new ByteReader(from), 'texts');
      const { text, starts, numbers } = read(bytes);
      expect(own.map((_, i) => text.latin1Slice(starts[i], starts[i + 1]))).toEqual(own);
      // NaN stands for texts, and for numbers that only their text shows exactly.
      for (const [i, number] of numbers.entries()) {
        if (!Number.isNaN(number)) expect([PLAIN.test(own[i]), number]).toEqual([true, Number(own[i])]);
        else expect(SHORT.test(own[i])).toBe(false);
      }
      const changed = Buffer.from(bytes);
      changed[at % bytes.length] ^= change;
      try {
        expect(read(changed).starts).toHaveLength(own.length + 1);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptionError);
      }
      expect(() => read(bytes.subarray(0, at % bytes.length))).toThrow(CorruptionError);
    }),
    { numRuns: 300 },
  );
  expect(found).toBeGreaterThan(bySuite({ fast: 2, full: 25 }));
});

/** Texts with a number, as a column of split lines stores them (docs/dev/format.md#410-texts-with-a-number). All sizes are checked. */
import { CorruptionError } from '../../base/model/errors.ts';
import type { ByteReader } from '../codec/byte-io.ts';
import { ShapeTable, valueOfNumber, writeNumber } from './number-text.ts';
import type { SplitRecord } from './split-frame.ts';
import { numbersOf } from './split-numbers.ts';

/** Bit of the mode: all texts have the same affixes. */
export const NO_INDEXES = 2;
/** Index of a text without affixes. */
export const OWN_TEXT = 255;
const MAX_DECIMALS = 9;
const MAX_NUMBER = 1e15;
/** Bytes above it are in no number without a unit. */
const NINE = 0x39;
/** Maximum bytes of the texts of a column. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;
/** Maximum bytes of a number below MAX_NUMBER with up to MAX_DECIMALS decimals. */
const MAX_NUMBER_BYTES = 16;

/** What is around the number of a text. */
interface Affixes {
  /** Bytes before the number, then those after it. */
  readonly bytes: Buffer;
  readonly before: number;
  /** Decimals of the number, or -1 without a number. */
  readonly decimals: number;
  /** Whether the bytes around the number show that the text as a whole is not one. */
  readonly isText: boolean;
}

interface NumberedTexts {
  readonly text: Buffer;
  /** Starts of the texts, and the end of the last one. */
  readonly starts: Uint32Array;
  /** For each text its number, or NaN unless it is one without a unit. */
  readonly numbers: Float64Array;
}

/**
 * Returns the texts of a column, in memory that is theirs alone. Throws CorruptionError.
 * @param record Record of type 6, with numbers that are exact in a double
 * @param reader Bytes of the column
 */
export function numberedTexts(record: SplitRecord, reader: ByteReader, what: string): NumberedTexts {
  const check = (condition: boolean) => {
    if (!condition) throw new CorruptionError(`${what}: texts with a number are damaged`);
  };
  const { count, mode, detail, number: textBytes } = record;
  check(detail > 0 && mode <= 3 && textBytes <= MAX_TEXT_BYTES);
  const indexes = mode & NO_INDEXES ? new Uint8Array(count) : reader.bytes(count);
  const affixes = readAffixes(detail, reader);
  check(affixes.every(({ decimals }) => decimals <= MAX_DECIMALS));
  let numberCount = 0;
  let ownCount = 0;
  for (let i = 0; i < count; i++) {
    const index = indexes[i];
    if (index === OWN_TEXT) ownCount++;
    else if (index >= detail) check(false);
    else if (affixes[index].decimals >= 0) numberCount++;
  }
  const lengths = reader.bytes(2 * ownCount);
  const ownBytes = reader.remaining - record.width * numberCount;
  check(ownBytes >= 0);
  const own = reader.bytes(ownBytes);
  const mantissas = numbersOf(record, numberCount, reader);
  check(reader.remaining === 0);
  // A number that is too long is found behind the end.
  const text = Buffer.allocUnsafeSlow(textBytes + MAX_NUMBER_BYTES);
  const starts = new Uint32Array(count + 1);
  const numbers = new Float64Array(count).fill(Number.NaN);
  const shapes = new ShapeTable();
  let at = 0;
  let ownAt = 0;
  let nextOwn = 0;
  let nextNumber = 0;
  for (let i = 0; i < count; i++) {
    if (indexes[i] === OWN_TEXT) {
      const length = lengths[2 * nextOwn] | (lengths[2 * nextOwn + 1] << 8);
      nextOwn++;
      check(ownAt + length <= own.length && at + length <= textBytes);
      text.set(own.subarray(ownAt, ownAt + length), at);
      ownAt += length;
      at += length;
      numbers[i] = numberIn(text, starts[i], at, shapes);
    } else {
      const { bytes, before, decimals, isText } = affixes[indexes[i]];
      const isBare = bytes.length === 0 && decimals >= 0;
      check(at + bytes.length <= textBytes);
      for (let j = 0; j < before; j++) text[at++] = bytes[j];
      if (decimals >= 0) {
        const value = mantissas[nextNumber++];
        check(value >= 0 && value < MAX_NUMBER);
        if (isBare) numbers[i] = valueOfNumber(value, decimals);
        at = writeNumber(text, at, value, SHAPES[decimals]);
        check(at + bytes.length - before <= textBytes);
      }
      for (let j = before; j < bytes.length; j++) text[at++] = bytes[j];
      if (!isText && !isBare) numbers[i] = numberIn(text, starts[i], at, shapes);
    }
    starts[i + 1] = at;
  }
  check(at === textBytes && ownAt === own.length);
  return { text: text.subarray(0, textBytes), starts, numbers };
}

const NO_UNIT = Buffer.alloc(0);
const SHAPES = Array.from({ length: MAX_DECIMALS + 1 }, (_, places) => ({ places, unit: NO_UNIT }));

/** Reads the heads of affixes, then their bytes. Throws CorruptionError. */
function readAffixes(count: number, reader: ByteReader): Affixes[] {
  const heads = Array.from({ length: count }, () => {
    const [low, high, lowAfter, highAfter, form] = reader.bytes(5);
    return { before: low | (high << 8), after: lowAfter | (highAfter << 8), decimals: form - 1 };
  });
  return heads.map(({ before, after, decimals }) => {
    const bytes = reader.bytes(before + after);
    return { bytes, before, decimals, isText: bytes.some(byte => byte > NINE) };
  });
}

/** Returns the number of a text, or NaN. */
function numberIn(text: Buffer, start: number, end: number, shapes: ShapeTable): number {
  const shape = shapes.read(text, start, end);
  if (shape < 0) return Number.NaN;
  const { places, unit } = shapes.shapes[shape];
  return unit.length === 0 ? valueOfNumber(shapes.mantissa, places) : Number.NaN;
}

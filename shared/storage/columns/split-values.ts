/**
 * What the values of a column of split lines can be (docs/dev/format.md#47-split-lines), without reading each of them. A damaged column
 * may be described wrongly: it is checked when its lines are joined.
 */
import { ByteReader } from '../codec/byte-io.ts';
import { NO_INDEXES, OWN_TEXT } from './numbered-texts.ts';
import {
  SPLIT_CLOCK,
  SPLIT_HEX,
  SPLIT_NUMBER,
  SPLIT_NUMBERED,
  SPLIT_PATTERN,
  SPLIT_TEXT,
  SPLIT_WORDS,
  type SplitRecord,
} from './split-frame.ts';
import { startsOfWords } from './split-words.ts';

export interface SplitValues {
  /** Returns false if no value has the byte. */
  mayHold(byte: number): boolean;
  /** False if each value has a byte at least. */
  readonly mayBeEmpty: boolean;
  /** The first value, or nothing if its type does not show it at once. */
  readonly first: Uint8Array;
}

const NO_BYTES = Buffer.alloc(0);
const DIGITS = '0123456789';
const DIGIT_SET = setOf(DIGITS);
const HEX_SET = setOf(`${DIGITS}abcdef`);
const NUMBER_SET = setOf(`${DIGITS}-.`);
/** Size of the head of affixes: bytes before the number, bytes after it, form. */
const AFFIX_HEAD = 5;

function setOf(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters));
}

/**
 * Throws CorruptionError.
 * @param bytes Bytes of the column, which has values; the result refers to them
 */
export function splitValuesOf(record: SplitRecord, bytes: Buffer): SplitValues {
  const { type, detail, count, width, base } = record;
  switch (type) {
    case SPLIT_TEXT: {
      const texts = bytes.subarray(width * count);
      let length = base;
      for (let plane = width - 1; plane >= 0; plane--) length += bytes[plane * count] * 256 ** plane;
      return {
        mayHold: byte => texts.includes(byte),
        mayBeEmpty: base < 1,
        first: texts.subarray(0, length),
      };
    }
    case SPLIT_WORDS:
      return words(record, bytes);
    case SPLIT_NUMBER:
      return { mayHold: byte => NUMBER_SET.has(byte), mayBeEmpty: false, first: NO_BYTES };
    case SPLIT_PATTERN:
    case SPLIT_CLOCK:
      return pattern(bytes, detail, DIGIT_SET);
    case SPLIT_HEX:
      return pattern(bytes, detail, HEX_SET);
    case SPLIT_NUMBERED:
      return numbered(record, bytes);
    default:
      return { mayHold: () => true, mayBeEmpty: true, first: NO_BYTES };
  }
}

function words(record: SplitRecord, bytes: Buffer): SplitValues {
  const reader = new ByteReader(bytes);
  const starts = startsOfWords(record, reader);
  const entries = reader.bytes(starts[record.number]);
  // The index of the first value has the lowest bits of its byte.
  const first = record.number > 1 ? reader.bytes(1)[0] & ((1 << (record.width || 8)) - 1) : 0;
  return {
    mayHold: byte => entries.includes(byte),
    mayBeEmpty: starts.some((start, i) => i > 0 && start === starts[i - 1]),
    first: entries.subarray(starts[first], starts[first + 1]),
  };
}

/** A pattern, with digits where its flags are not 0. */
function pattern(bytes: Buffer, detail: number, digits: ReadonlySet<number>): SplitValues {
  const constant = bytes.subarray(0, detail).filter((_, i) => bytes[detail + i] === 0);
  return {
    mayHold: byte => digits.has(byte) || constant.includes(byte),
    mayBeEmpty: false,
    first: NO_BYTES,
  };
}

function numbered({ count, detail, mode }: SplitRecord, bytes: Buffer): SplitValues {
  const hasIndexes = (mode & NO_INDEXES) === 0;
  const headsAt = hasIndexes ? count : 0;
  const sizeOf = (i: number) => {
    const at = headsAt + AFFIX_HEAD * i;
    const before = bytes[at] | (bytes[at + 1] << 8);
    return { before, around: before + (bytes[at + 2] | (bytes[at + 3] << 8)), form: bytes[at + 4] };
  };
  const affixesAt = headsAt + AFFIX_HEAD * detail;
  let affixesEnd = affixesAt;
  let isEmpty = false;
  for (let i = 0; i < detail; i++) {
    const { around, form } = sizeOf(i);
    affixesEnd += around;
    isEmpty ||= around === 0 && form === 0;
  }
  const affixes = bytes.subarray(affixesAt, affixesEnd);
  /** Lengths of the texts without affixes, these texts, and perhaps numbers. */
  const others = bytes.subarray(affixesEnd);
  const hasOthers = hasIndexes && bytes.subarray(0, count).includes(OWN_TEXT);
  return {
    mayHold: byte => NUMBER_SET.has(byte) || affixes.includes(byte) || (hasOthers && others.includes(byte)),
    mayBeEmpty: isEmpty || hasOthers,
    get first() {
      const index = hasIndexes ? bytes[0] : 0;
      if (index >= detail) return NO_BYTES;
      let from = 0;
      for (let i = 0; i < index; i++) from += sizeOf(i).around;
      const { before, around, form } = sizeOf(index);
      const text = affixes.subarray(from, from + around);
      if (form === 0) return text;
      return Buffer.concat([text.subarray(0, before), Buffer.from('0'), text.subarray(before)]);
    },
  };
}

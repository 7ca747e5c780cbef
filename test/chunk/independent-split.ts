/**
 * Split lines of a page (docs/dev/format.md#47-split-lines), read from that page alone: no module of the program is imported. Simple, not
 * fast.
 */
import { zstdDecompressSync } from 'node:zlib';

function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

class Bytes {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  take(count: number): Buffer {
    must(count <= this.left, 'past the end of the split');
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  numbers(count: number, bytes: 1 | 2 | 4): number[] {
    const from = this.take(count * bytes);
    return Array.from({ length: count }, (_, i) => from.readUIntLE(i * bytes, bytes));
  }
}

/** `width` bytes of each number, all lowest ones first. */
function planes(from: Bytes, width: number, count: number): bigint[] {
  const all = Array.from({ length: width }, () => from.take(count));
  return Array.from({ length: count }, (_, i) =>
    all.reduce((sum, plane, p) => sum + (BigInt(plane[i]) << BigInt(8 * p)), 0n),
  );
}

type Numbers = Pick<Column, 'width' | 'mode' | 'base' | 'count'>;

function wholeNumbers(from: Bytes, { width, mode, base, count }: Numbers): bigint[] {
  let last = base;
  return planes(from, width, count).map(value => {
    if ((mode & 1) === 1) last += value % 2n === 0n ? value / 2n : -(value + 1n) / 2n;
    else last = base + value;
    must(last < 10n ** 16n && last > -(10n ** 16n), 'number of more than 16 digits');
    return last;
  });
}

const DAY_NS = 86_400_000_000_000n;

/** Indexes of words: a byte each, or `bits` bits, the first in the lowest ones. */
function indexesOf(from: Bytes, bits: number, count: number): number[] {
  if (bits === 0) return from.numbers(count, 1);
  must([1, 2, 4].includes(bits), 'bits of an index');
  const packed = from.take(Math.ceil((bits * count) / 8));
  return Array.from({ length: count }, (_, i) => (packed[(bits * i) >> 3] >> ((bits * i) & 7)) % 2 ** bits);
}

/** The number in decimal, with digits behind a dot. */
function numberText(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const sign = value < 0n ? '-' : '';
  return decimals === 0 ? sign + whole : `${sign}${whole}.${digits.slice(digits.length - decimals)}`;
}

/** docs/dev/format.md#410-texts-with-a-number. */
function numberedTexts({ width, mode, base, count, number, detail }: Column, from: Bytes): string[] {
  must(mode <= 3 && detail > 0, 'affixes');
  const indexes = mode >= 2 ? new Array<number>(count).fill(0) : from.numbers(count, 1);
  const heads = Array.from({ length: detail }, () => {
    const [before, after] = from.numbers(2, 2);
    return { before, after, form: from.numbers(1, 1)[0] };
  });
  const affixes = heads.map(({ before, after, form }) => {
    must(form <= 10, 'decimals of affixes');
    return { before: from.take(before).latin1Slice(), after: from.take(after).latin1Slice(), form };
  });
  must(
    indexes.every(index => index === 255 || index < detail),
    'index without affixes',
  );
  const lengths = from.numbers(indexes.filter(index => index === 255).length, 2);
  const own = lengths.map(length => from.take(length).latin1Slice());
  const numbers = indexes.filter(index => index !== 255 && affixes[index].form > 0).length;
  const values = wholeNumbers(from, { width, mode, base, count: numbers });
  const texts = indexes.map(index => {
    if (index === 255) return own.shift()!;
    const { before, after, form } = affixes[index];
    if (form === 0) return before + after;
    const value = values.shift()!;
    must(value >= 0n && value < 10n ** 15n, 'number of a text');
    return before + numberText(value, form - 1) + after;
  });
  must(texts.reduce((sum, { length }) => sum + length, 0) === number, 'length of the texts');
  return texts;
}

interface Column {
  readonly type: number;
  readonly detail: number;
  readonly width: number;
  readonly mode: number;
  readonly count: number;
  readonly bytes: number;
  readonly number: number;
  readonly base: bigint;
}

/** Digits of the clock at a time of day (ns): HHMMSS and nine of the nanoseconds. */
function clockOf(time: bigint): string {
  const second = 10n ** 9n;
  const seconds = time / second;
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(part =>
    String(part).padStart(2, '0'),
  );
  return parts.join('') + String(time % second).padStart(9, '0');
}

/**
 * Values as latin1 text.
 * @param times time of day of the row of each value, ns; only if lines show them
 */
function valuesOf(column: Column, from: Bytes, times?: readonly number[]): string[] {
  const { type, detail, width, count, number, base } = column;
  switch (type) {
    case 0: {
      const lengths = planes(from, width, count).map(length => Number(length + base));
      return lengths.map(length => from.take(length).latin1Slice());
    }
    case 1: {
      const entries = from.numbers(number, 2).map(length => from.take(length).latin1Slice());
      const indexes = number === 1 ? new Array<number>(count).fill(0) : indexesOf(from, width, count);
      return indexes.map(index => {
        must(index < entries.length, 'index without an entry');
        return entries[index];
      });
    }
    case 2:
      return wholeNumbers(from, column).map(value => numberText(value, detail));
    case 3:
    case 4: {
      const constant = from.take(detail);
      const changing = from.numbers(detail, 1);
      const changes = changing.filter(flag => flag !== 0).length;
      const digits =
        type === 3
          ? wholeNumbers(from, column).map(value => value.toString().padStart(changes, '0').slice(-changes))
          : Array.from({ length: count }, () => from.take((changes + 1) >> 1).toString('hex'));
      return digits.map(own => {
        let digit = 0;
        return changing
          .map((flag, i) => (flag === 0 ? String.fromCharCode(constant[i]) : own[digit++]))
          .join('');
      });
    }
    case 5: {
      must(times !== undefined, 'lines that show times, without the flag');
      must(base >= 0n && base < DAY_NS && times.length === count, 'clock');
      const constant = from.take(detail);
      const digits = from.numbers(detail, 1);
      must(
        digits.every(digit => digit <= 15),
        'digit of a clock',
      );
      return times.map(time => {
        const clock = clockOf((BigInt(time) + base) % DAY_NS);
        return digits
          .map((digit, i) => (digit === 0 ? String.fromCharCode(constant[i]) : clock[digit - 1]))
          .join('');
      });
    }
    case 6:
      return numberedTexts(column, from);
    default:
      throw new Error(`column of type ${type}`);
  }
}

function readFrame(from: Bytes, rows: number) {
  const [templates, pieces, textBytes, columns, pageRows, width] = from.numbers(6, 4);
  must(pageRows === rows && (width === 1 || width === 2), 'head of the split');
  const piecesOf = from.numbers(templates, 2);
  const lengths = from.numbers(pieces, 2);
  const columnOf = from.numbers(pieces, 2);
  const texts = new Bytes(from.take(textBytes));
  const literals = lengths.map(length => texts.take(length).latin1Slice());
  must(texts.left === 0, 'text behind the literals');
  const records = Array.from({ length: columns }, (): Column => {
    const record = from.take(24);
    return {
      type: record[0],
      detail: record[1],
      width: record[2],
      mode: record[3],
      count: record.readUInt32LE(4),
      bytes: record.readUInt32LE(8),
      number: record.readUInt32LE(12),
      base: record.readBigInt64LE(16),
    };
  });
  const low = from.numbers(rows, 1);
  const high = width === 2 ? from.numbers(rows, 1) : [];
  return { templates, pieces, piecesOf, columnOf, literals, records, low, high };
}

/**
 * docs/dev/format.md#48-fields-of-split-lines: the frame and all columns one behind the other.
 * @param rest columns without a block
 * @param fields blocks of fields
 */
export function joinSplit(frameBlock: Buffer, rest: Buffer, fields: readonly Buffer[], rows: number): Buffer {
  const from = new Bytes(frameBlock);
  const { templates, records } = readFrame(from, rows);
  const frame = frameBlock.subarray(0, from.at);
  from.take(templates + 1);
  const columnOfField = from.numbers(fields.length, 2);
  must(from.left === 0, 'bytes behind the frame');
  const own = new Map(fields.map((block, field) => [columnOfField[field], block]));
  must(own.size === fields.length, 'a column twice');
  const others = new Bytes(rest);
  const columns = records.map(({ bytes }, column) => own.get(column) ?? others.take(bytes));
  must(others.left === 0, 'bytes behind the columns');
  return Buffer.concat([frame, ...columns]);
}

/** A page of an object, as far as its fields need it. */
interface PageOfFields {
  readonly rows: number;
  readonly columns: readonly {
    readonly kind: number;
    readonly name: string;
    readonly block: { readonly offset: number; readonly storedBytes: number; readonly codec: number };
  }[];
}

/** docs/dev/format.md#48-fields-of-split-lines: the value of each row, undefined, or `parse`. */
export function readSplitFields(stored: Buffer, page: PageOfFields) {
  const blockOf = ({ block: { offset, storedBytes, codec } }: PageOfFields['columns'][number]) => {
    const bytes = stored.subarray(offset, offset + storedBytes);
    return codec === 0 ? bytes : zstdDecompressSync(bytes);
  };
  const frameColumn = page.columns.find(({ kind }) => kind === 9);
  if (frameColumn === undefined) return [];
  const from = new Bytes(blockOf(frameColumn));
  const { templates, piecesOf, columnOf, records, low, high } = readFrame(from, page.rows);
  const parsers = from.numbers(templates + 1, 1);
  const fields = page.columns.filter(({ kind }) => kind === 10);
  const columnOfField = from.numbers(fields.length, 2);
  return fields.map((field, i) => {
    const column = columnOfField[i];
    const values = valuesOf(records[column], new Bytes(blockOf(field)));
    let piece = 0;
    const has = piecesOf.map(count => {
      piece += count;
      return columnOf.slice(piece - count, piece - 1).includes(column);
    });
    let next = 0;
    const mark = field.name[0] === 'j' ? 1 : 2;
    const ofRow = low.map((byte, row) => {
      const template = byte + 256 * (high[row] ?? 0);
      if (template > 0 && has[template - 1]) return Buffer.from(values[next++], 'latin1').toString('utf8');
      return parsers[template] === mark ? undefined : 'parse';
    });
    must(next === values.length, 'values without a row');
    return { name: field.name, values: ofRow };
  });
}

/**
 * @param raw sections of the column one behind the other, unpacked
 * @param times time of day of each row, ns; only if lines show them
 * @returns the lines, as latin1 text
 */
export function readSplitLines(raw: Buffer, rows: number, times?: readonly number[]): string[] {
  const from = new Bytes(raw);
  const { templates, pieces, piecesOf, columnOf, literals, records, low, high } = readFrame(from, rows);
  let piece = 0;
  const shapes = piecesOf.map(count => {
    const first = piece;
    piece += count;
    return literals.slice(first, piece).map((literal, i) => ({ literal, column: columnOf[first + i] }));
  });
  must(piece === pieces, 'pieces without a template');
  const templateOf = low.map((byte, row) => byte + 256 * (high[row] ?? 0));
  const values = records.map((record, column) => {
    const own = new Bytes(from.take(record.bytes));
    const ofValues = times?.flatMap((time, row) => {
      if (templateOf[row] === 0) return column === 0 ? [time] : [];
      const pieces = shapes[templateOf[row] - 1]?.slice(0, -1) ?? [];
      return pieces.filter(piece => piece.column === column).map(() => time);
    });
    const all = record.count === 0 ? [] : valuesOf(record, own, ofValues);
    must(own.left === 0, 'bytes behind a column');
    return all;
  });
  must(from.left === 0, 'bytes after the columns');
  const next = values.map(() => 0);
  const nextValue = (column: number) => {
    const value = values[column]?.[next[column]++];
    must(value !== undefined, 'value that is not there');
    return value;
  };
  const lines = templateOf.map(template => {
    if (template === 0) return nextValue(0);
    must(template <= templates, 'row without a template');
    const shape = shapes[template - 1];
    return shape
      .map(({ literal, column }, i) => literal + (i === shape.length - 1 ? '' : nextValue(column)))
      .join('');
  });
  must(
    values.every((all, column) => next[column] === all.length),
    'values without a row',
  );
  return lines;
}

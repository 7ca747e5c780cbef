/**
 * Types of a column, and its bytes in each type. A column has a type only if all of its values decode to
 * exactly their original text; otherwise it is text. Types are tried in the order of `TYPES`.
 */
import { packNumbers, unpackNumbers } from './number-bytes.ts';

export const TYPES = [
  'words',
  'integer',
  'decimal',
  'time',
  'uuid',
  'hex',
  'many words',
  'address',
  'text',
] as const;
export type ColumnType = (typeof TYPES)[number];

interface Codec {
  /** Undefined if the values are not of this type. */
  pack(values: readonly string[]): Buffer | undefined;
  unpack(bytes: Buffer, count: number): string[];
}

const INTEGER = /^(0|-?[1-9]\d{0,14})$/;
const DECIMAL = /^(0|-?[1-9]\d{0,8})\.(\d{1,6})$/;
const TIME = /^\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.(\d{1,6}))?(Z|\+00:00)?$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HEX = /^([0-9a-f]{2}){4,32}$/;
const ADDRESS = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/;

/** Maximum entries whose indexes fit in one byte, or in two. */
const MAX_WORDS = 256;
const MAX_MANY_WORDS = 65_536;

const CODECS: Readonly<Record<Exclude<ColumnType, 'text'>, Codec>> = {
  words: { pack: values => packWords(values, MAX_WORDS), unpack: unpackWords },
  integer: {
    pack: values =>
      values.every(value => INTEGER.test(value)) ? packNumbers(values.map(Number)) : undefined,
    unpack: (bytes, count) => unpackNumbers(bytes, count).map(String),
  },
  decimal: {
    pack: values => {
      const places = DECIMAL.exec(values[0])?.[2].length ?? 0;
      if (!values.every(value => DECIMAL.exec(value)?.[2].length === places)) return undefined;
      // The pattern excludes "-0.5", whose zero would lose its sign.
      const numbers = values.map(value => Number(value.replace('.', '')));
      return Buffer.concat([Buffer.from([places]), packNumbers(numbers)]);
    },
    unpack: (bytes, count) =>
      unpackNumbers(bytes.subarray(1), count).map(number => {
        const digits = String(Math.abs(number)).padStart(bytes[0] + 1, '0');
        return `${number < 0 ? '-' : ''}${digits.slice(0, -bytes[0])}.${digits.slice(-bytes[0])}`;
      }),
  },
  time: {
    pack: values => {
      const shape = TIME.exec(values[0]);
      if (shape === null) return undefined;
      const [, joint, fraction = '', zone = ''] = shape;
      const numbers: number[] = [];
      for (const value of values) {
        const found = TIME.exec(value);
        if (found === null || (found[2] ?? '').length !== fraction.length) return undefined;
        const second = `${value.slice(0, 10)}T${value.slice(11, 19)}`;
        const ms = Date.parse(`${second}Z`);
        // The parser accepts February 30 and the hour 24, but returns another date.
        if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(second)) return undefined;
        numbers.push((ms / 1000) * 10 ** fraction.length + Number(found[2] ?? 0));
      }
      const head = Buffer.from([joint.charCodeAt(0), fraction.length, zone.length]);
      return Buffer.concat([head, Buffer.from(zone), packNumbers(numbers)]);
    },
    unpack: (bytes, count) => {
      const [joint, places, zoneLength] = bytes;
      const zone = bytes.latin1Slice(3, 3 + zoneLength);
      return unpackNumbers(bytes.subarray(3 + zoneLength), count).map(number => {
        const seconds = Math.floor(number / 10 ** places);
        const text = new Date(seconds * 1000).toISOString();
        const fraction =
          places === 0 ? '' : '.' + String(number - seconds * 10 ** places).padStart(places, '0');
        return text.slice(0, 10) + String.fromCharCode(joint) + text.slice(11, 19) + fraction + zone;
      });
    },
  },
  uuid: {
    pack: values =>
      values.every(value => UUID.test(value))
        ? Buffer.from(values.join('').replaceAll('-', ''), 'hex')
        : undefined,
    unpack: (bytes, count) =>
      Array.from({ length: count }, (_, i) => {
        const hex = bytes.toString('hex', 16 * i, 16 * i + 16);
        return [
          [0, 8],
          [8, 12],
          [12, 16],
          [16, 20],
          [20, 32],
        ]
          .map(([a, b]) => hex.slice(a, b))
          .join('-');
      }),
  },
  hex: {
    pack: values => {
      const { length } = values[0];
      if (!values.every(value => value.length === length && HEX.test(value))) return undefined;
      return Buffer.concat([Buffer.from([length / 2]), Buffer.from(values.join(''), 'hex')]);
    },
    unpack: (bytes, count) =>
      Array.from({ length: count }, (_, i) =>
        bytes.toString('hex', 1 + i * bytes[0], 1 + (i + 1) * bytes[0]),
      ),
  },
  'many words': { pack: values => packWords(values, MAX_MANY_WORDS), unpack: unpackWords },
  address: {
    pack: values => {
      if (!values.every(value => ADDRESS.test(value))) return undefined;
      const parts = values.map(value => value.split('.').map(Number));
      if (parts.some(four => four.some(part => part > 255))) return undefined;
      // Bytes of an address are adjacent: a known address is one match for zstd (figures in the decision
      // record).
      return Buffer.from(parts.flat());
    },
    unpack: (bytes, count) =>
      Array.from({ length: count }, (_, i) => bytes.subarray(4 * i, 4 * i + 4).join('.')),
  },
};

/** Size of the dictionary, its entries, and the entry index of each value: low bytes, then high bytes. */
function packWords(values: readonly string[], maxEntries: number): Buffer | undefined {
  const entries = new Map<string, number>();
  const most = Math.min(maxEntries, values.length >> 1);
  for (const value of values) {
    if (!entries.has(value)) entries.set(value, entries.size);
    if (entries.size > most) return undefined;
  }
  const dictionary = Buffer.from([...entries.keys()].map(entry => `${entry}\0`).join(''), 'latin1');
  const head = Buffer.alloc(4);
  head.writeUInt32LE(dictionary.length);
  const places = values.map(value => entries.get(value) ?? 0);
  const low = entries.size === 1 ? [] : places.map(place => place & 255);
  const high = entries.size <= MAX_WORDS ? [] : places.map(place => place >> 8);
  return Buffer.concat([head, dictionary, Buffer.from(low), Buffer.from(high)]);
}

function unpackWords(bytes: Buffer, count: number): string[] {
  const at = 4 + bytes.readUInt32LE(0);
  const entries = bytes.latin1Slice(4, at - 1).split('\0');
  if (entries.length === 1) return new Array<string>(count).fill(entries[0]);
  const isWide = entries.length > MAX_WORDS;
  return Array.from(
    { length: count },
    (_, i) => entries[bytes[at + i] + (isWide ? 256 * bytes[at + count + i] : 0)],
  );
}

export interface TypedColumn {
  readonly type: ColumnType;
  readonly bytes: Buffer;
  readonly count: number;
}

/** @param text values, each followed by a zero byte */
export function packColumn(text: Buffer): TypedColumn {
  const values = text.latin1Slice(0, text.length - 1).split('\0');
  for (const type of TYPES) {
    if (type === 'text') break;
    const bytes = CODECS[type].pack(values);
    if (bytes !== undefined) return { type, bytes, count: values.length };
  }
  return { type: 'text', bytes: text, count: values.length };
}

export function unpackColumn({ type, bytes, count }: TypedColumn): Buffer {
  if (type === 'text') return bytes;
  return Buffer.from(CODECS[type].unpack(bytes, count).join('\0') + '\0', 'latin1');
}

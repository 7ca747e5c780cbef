import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import {
  decodeFixedOffsets,
  decodeOffsets,
  encodeFixedLengths,
  encodeLengths,
} from '../../shared/storage/chunk/length-column.ts';
import {
  decodeMetadata,
  encodeMetadata,
  listsEmptyValue,
} from '../../shared/storage/chunk/metadata-column.ts';
import { decodeTimes, encodePackedTimes, encodeTimes } from '../../shared/storage/chunk/time-column.ts';
import { ByteReader, ByteWriter } from '../../shared/storage/codec/byte-io.ts';
import {
  loadBlock,
  PUSH_COMPRESSION,
  storeBlock,
  storeBlockSync,
} from '../../shared/storage/codec/compression.ts';

const whole = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.maxSafeNat(),
  fc.constantFrom(0, 127, 128, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
);

/** Short and long ones, with and without other characters than ASCII. */
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'grapheme', minLength: 30 }),
);

describe('byte-io', () => {
  test('whole numbers, texts and blocks come back', () => {
    fc.assert(
      fc.property(fc.array(whole), fc.array(text), (numbers, texts) => {
        const writer = new ByteWriter(1);
        for (const number of numbers) writer.varint(number);
        for (const text of texts) writer.text(text);
        for (const number of numbers) writer.signedVarint(-Math.floor(number / 4));
        const reader = new ByteReader(writer.finish());
        expect(numbers.map(() => reader.varint())).toEqual(numbers);
        expect(texts.map(() => reader.text())).toEqual(texts);
        expect(numbers.map(() => reader.signedVarint() + 0)).toEqual(
          numbers.map(n => -Math.floor(n / 4) + 0),
        );
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  test.each([
    ['a varint past the end', [0x80], (r: ByteReader) => r.varint()],
    ['a varint over 2^53', [255, 255, 255, 255, 255, 255, 255, 255, 1], (r: ByteReader) => r.varint()],
    ['a text past the end', [5, 65], (r: ByteReader) => r.text()],
    ['a count that cannot fit', [200, 1, 0], (r: ByteReader) => r.count(1)],
    ['a u32 past the end', [1, 2, 3], (r: ByteReader) => r.u32()],
  ])('%s is a corruption', (_name, bytes, read) => {
    expect(() => read(new ByteReader(Buffer.from(bytes)))).toThrow(CorruptionError);
  });
});

describe('blocks', () => {
  test('come back, compressed or not, small or in the pool', async () => {
    const shapes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 40_000 }))
        .map(([s, n]) => Buffer.from(s.repeat(n).slice(0, 200_000))),
    );
    await fc.assert(
      fc.asyncProperty(shapes, async raw => {
        for (const stored of [
          await storeBlock(raw, PUSH_COMPRESSION),
          storeBlockSync(raw, PUSH_COMPRESSION),
        ]) {
          const block = {
            offset: 0,
            storedBytes: stored.bytes.length,
            rawBytes: stored.rawBytes,
            codec: stored.codec,
            crc: stored.crc,
          };
          expect(Buffer.compare(loadBlock(Buffer.from(stored.bytes), block, 'block'), Buffer.from(raw))).toBe(
            0,
          );
        }
      }),
      { numRuns: 40 },
    );
  });

  test('a changed byte, a wrong length, an unknown codec are corruptions', async () => {
    const stored = await storeBlock(Buffer.from('some line '.repeat(100)), PUSH_COMPRESSION);
    const block = {
      offset: 0,
      storedBytes: stored.bytes.length,
      rawBytes: stored.rawBytes,
      codec: stored.codec,
      crc: stored.crc,
    };
    const bytes = Buffer.from(stored.bytes);
    const changed = Buffer.from(bytes);
    changed[changed.length >> 1] ^= 1;
    expect(() => loadBlock(changed, block, 'x')).toThrow(/^x: checksum/);
    expect(() => loadBlock(bytes.subarray(1), block, 'x')).toThrow(/bytes, expected/);
    expect(() => loadBlock(bytes, { ...block, codec: 9 }, 'x')).toThrow(/unknown codec 9/);
    expect(() => loadBlock(bytes, { ...block, rawBytes: block.rawBytes - 1 }, 'x')).toThrow(CorruptionError);
    expect(() => loadBlock(bytes, { ...block, rawBytes: block.rawBytes + 1 }, 'x')).toThrow(CorruptionError);
    expect(() => loadBlock(bytes, { ...block, rawBytes: 2 ** 40 }, 'x')).toThrow(/claims/);
  });
});

const runs = fc.array(
  fc.tuple(
    fc.constantFrom(1, 1000, 1_000_000, 1_000_000_000),
    fc.array(fc.integer({ min: 0, max: 86_399 }), { minLength: 1, maxLength: 50 }),
  ),
  { minLength: 1, maxLength: 6 },
);

type Times = ReturnType<typeof encodeTimes>;
const NO_BYTES = Buffer.alloc(0);
const storedTimes = ({ scale, high, low }: Times) => ({
  scale,
  high: Buffer.from(high),
  low: Buffer.from(low),
});
const packedTimes = ({ scale, high, low }: Times) => ({
  scale,
  high: Buffer.from(high),
  low: NO_BYTES,
  packed: Buffer.from(low),
});

describe('times', () => {
  test('are restored exactly, for any clock', () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 0, max: 999 }), (parts, noise) => {
        const offsets: number[] = [];
        const starts: number[] = [];
        for (const [unit, seconds] of parts) {
          const times = seconds
            .map((s, i) => s * unit + (unit === 1 ? (noise * i) % 977 : 0))
            .sort((a, b) => a - b);
          times.forEach((time, i) => {
            starts.push(i === 0 ? 1 : 0);
            offsets.push(time);
          });
        }
        const rows = offsets.length;
        const firstRows = starts.flatMap((start, i) => (start ? [i] : []));
        const bytes = storedTimes(encodeTimes(Float64Array.from(offsets), rows, Uint8Array.from(starts)));
        expect(Array.from(decodeTimes(bytes, rows, firstRows, 't'))).toEqual(offsets);
        const bits = packedTimes(
          encodePackedTimes(Float64Array.from(offsets), rows, Uint8Array.from(starts)),
        );
        expect(Array.from(decodeTimes(bits, rows, firstRows, 't'))).toEqual(offsets);
      }),
    );
  });

  test('restores a single entry of a day, and the last nanosecond of it', () => {
    const last = 86_399_999_999_999;
    for (const offsets of [[0], [last], [0, last], [0, 0, 0]]) {
      const starts = Uint8Array.from(offsets, (_, i) => (i === 0 ? 1 : 0));
      const bytes = storedTimes(encodeTimes(Float64Array.from(offsets), offsets.length, starts));
      const bits = packedTimes(encodePackedTimes(Float64Array.from(offsets), offsets.length, starts));
      for (const parts of [bytes, bits]) {
        expect(Array.from(decodeTimes(parts, offsets.length, [0], 't'))).toEqual(offsets);
        expect(() => decodeTimes(parts, offsets.length + 1, [0], 't')).toThrow(CorruptionError);
        expect(() => decodeTimes({ ...parts, scale: 4 }, offsets.length, [0], 't')).toThrow(/unknown scale/);
      }
    }
  });

  test('low bits of another size are refused', () => {
    const offsets = Float64Array.from({ length: 9 }, (_, i) => i * i * 1_000_003);
    const parts = packedTimes(encodePackedTimes(offsets, offsets.length, Uint8Array.of(1)));
    const { packed } = parts;
    expect(packed[0]).toBeGreaterThan(10);
    const others = [Buffer.of(), packed.subarray(0, -1), Buffer.concat([packed, Buffer.of(0)])];
    for (const bits of [0, packed[0] - 1, 41, 255])
      others.push(Buffer.concat([Buffer.of(bits), packed.subarray(1)]));
    for (const other of others)
      expect(() => decodeTimes({ ...parts, packed: other }, offsets.length, [0], 't')).toThrow(/low bits/);
  });

  test('differences that hardly differ keep what repeats in the high parts', () => {
    // A period of 15 s, at most 1 ms later.
    const offsets = Float64Array.from({ length: 500 }, (_, i) => i * 15e9 + ((i * 7_919_777) % 1_000_000));
    const { high, low } = encodePackedTimes(offsets, offsets.length, Uint8Array.of(1));
    const stored = storeBlockSync(high, PUSH_COMPRESSION).bytes.length + low.length;
    expect((stored * 8) / offsets.length).toBeLessThan(24);
  });
});

test('lengths come back as offsets, and must add up', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300_000 })), lengths => {
      const bytes = Buffer.from(encodeLengths(Uint32Array.from(lengths), lengths.length));
      const total = lengths.reduce((a, b) => a + b, 0);
      const offsets = decodeOffsets(bytes, lengths.length, total, 'l');
      expect(Array.from(lengths, (_, i) => offsets[i + 1] - offsets[i])).toEqual(lengths);
      expect(() => decodeOffsets(bytes, lengths.length, total + 1, 'l')).toThrow(CorruptionError);
      expect(() => decodeOffsets(bytes, lengths.length + 1, total, 'l')).toThrow(CorruptionError);
    }),
  );
});

test('lengths of a fixed width come back as offsets, and must add up', () => {
  const lengths = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 1 }),
    fc.array(fc.integer({ min: 900, max: 902 }), { minLength: 1 }),
  );
  fc.assert(
    fc.property(lengths, lengths => {
      const rows = lengths.length;
      const bytes = Buffer.from(encodeFixedLengths(Uint32Array.from(lengths), rows));
      const total = lengths.reduce((a, b) => a + b, 0);
      const offsets = decodeFixedOffsets(bytes, rows, total, 'l');
      expect(Array.from(lengths, (_, i) => offsets[i + 1] - offsets[i])).toEqual(lengths);
      const refused = (changed: Buffer, changedRows = rows, bytesOfLines = total) =>
        expect(() => decodeFixedOffsets(changed, changedRows, bytesOfLines, 'l')).toThrow(CorruptionError);
      refused(bytes, rows, total + 1);
      refused(bytes, rows + 1);
      refused(bytes.subarray(0, bytes.length - 1));
      refused(Buffer.concat([Buffer.of(5), bytes.subarray(1), Buffer.alloc((5 - bytes[0]) * rows)]));
    }),
  );
});

describe('metadata', () => {
  test('columns come back, with dictionaries of any size; an empty value comes back as none', () => {
    const column = fc.array(
      fc.option(fc.oneof(fc.constantFrom('info', 'warn'), fc.uuid(), fc.string()), { nil: undefined }),
    );
    fc.assert(
      fc.property(column, values => {
        const known: string[] = [];
        const ids = Uint32Array.from(values, value => {
          if (value === undefined) return 0;
          if (!known.includes(value)) known.push(value);
          return known.indexOf(value) + 1;
        });
        const encoded = encodeMetadata(
          ids,
          ids.length,
          known.map(value => Buffer.from(value)),
        );
        const payload = Buffer.from(encoded.payload);
        const { dictionary, constant } = encoded;
        const decoded = decodeMetadata('m', payload, ids.length, dictionary, constant, 'm');
        const back = Array.from(decoded.ids, id => (id === 0 ? undefined : decoded.valueAt(id - 1)));
        expect(back).toEqual(values.map(value => value || undefined));
        expect(listsEmptyValue(encoded)).toBe(dictionary !== undefined && known.includes(''));
        expect(decoded.count).toBe(known.length);
        if (!constant && ids.length > 0) {
          expect(() =>
            decodeMetadata('m', payload.subarray(0, -1), ids.length, dictionary, false, 'm'),
          ).toThrow(CorruptionError);
        }
      }),
    );
  });

  test('one value in every row costs nothing in the page', () => {
    const encoded = encodeMetadata(new Uint32Array(1000).fill(1), 1000, [Buffer.from('info')]);
    expect(encoded).toEqual({ dictionary: ['info'], constant: true, payload: new Uint8Array(0) });
  });
});

import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ZstdDecoder } from '../../shared/storage/codec/zstd-decoder.ts';
import { ZstdEncoder } from '../../shared/storage/codec/zstd-encoder.ts';
import {
  ADDED_BYTES,
  contentSize,
  UNDECLARED,
  UNUSUAL,
  withContentSize,
} from '../../shared/storage/codec/zstd-frame.ts';

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** A frame that does not say its size, as older versions wrote them: its end is known only after its content. */
const streamed = (raw: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    const stream = createZstdCompress({ params: PARAMS });
    const parts: Buffer[] = [];
    stream.on('data', part => parts.push(part));
    stream.on('end', () => resolve(Buffer.concat(parts)));
    stream.on('error', reject);
    stream.write(raw);
    stream.end();
  });
/** Such a frame without its last four bytes has all of its content, but not its end. */
const CHECKED = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const raws = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 3000 }).map(bytes => Buffer.from(bytes)),
  fc
    .tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 400_000 }))
    .map(([text, length]) => Buffer.alloc(length, text)),
);

describe('the frame around zstd blocks', () => {
  test('a frame of the encoder states its size', async () => {
    const encoder = new ZstdEncoder(PARAMS);
    await fc.assert(
      fc.asyncProperty(raws, async raw => {
        const frame = Buffer.from(await encoder.pack(raw));
        expect(contentSize(frame)).toBe(raw.length);
        expect(zstdDecompressSync(frame).equals(raw)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('states its size or contains it', async () => {
    await fc.assert(
      fc.asyncProperty(raws, async raw => {
        expect(contentSize(zstdCompressSync(raw))).toBe(raw.length);
        const frame = await streamed(raw);
        expect(contentSize(frame)).toBe(UNDECLARED);
        const sized = Buffer.alloc(frame.length + ADDED_BYTES);
        expect(withContentSize(frame, raw.length, sized)).toBe(sized.length);
        expect(contentSize(sized)).toBe(raw.length);
        expect(zstdDecompressSync(sized).equals(raw)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['cut', (frame: Buffer) => frame.subarray(0, frame.length - 1)],
    ['followed by another', (frame: Buffer) => Buffer.concat([frame, frame])],
    ['of another kind', (frame: Buffer) => Buffer.concat([Buffer.from('none'), frame])],
    [
      'with a dictionary',
      (frame: Buffer) => Buffer.from(frame.map((byte, i) => (i === 4 ? byte | 1 : byte))),
    ],
    ['empty', () => Buffer.alloc(0)],
  ])('is unusual where it is %s', async (_, change) => {
    const raw = Buffer.alloc(5000, 'some text, ');
    expect(contentSize(change(zstdCompressSync(raw)))).toBe(UNUSUAL);
    expect(contentSize(change(await streamed(raw)))).toBe(UNUSUAL);
  });

  test('a decoder returns no bytes of the previous frame, for any requested sizes', async () => {
    const decoder = new ZstdDecoder();
    const step = fc.record({
      raw: raws,
      kind: fc.constantFrom('streamed', 'whole', 'checked'),
      cut: fc.nat(4),
      more: fc.integer({ min: -2, max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async steps => {
        for (const { raw, kind, cut, more } of steps) {
          const whole =
            kind === 'streamed'
              ? await streamed(raw)
              : zstdCompressSync(raw, kind === 'checked' ? CHECKED : {});
          const frame = whole.subarray(0, whole.length - cut);
          let out: Buffer | undefined;
          try {
            out = decoder.unpack(frame, raw.length + more);
          } catch {
            expect(cut > 0 || more < 0).toBe(true);
          }
          // The output is the content of the frame, or its start.
          if (out !== undefined) expect(raw.subarray(0, out.length).equals(out)).toBe(true);
          if (cut === 0 && more === 0) expect(out?.length).toBe(raw.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});

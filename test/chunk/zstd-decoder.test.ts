import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ZstdDecoder } from '../../shared/storage/codec/zstd-decoder.ts';

describe('the decoder', () => {
  test('unpacks frame after frame, small and large', () => {
    const decoder = new ZstdDecoder();
    const raw = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc
        .tuple(fc.string({ minLength: 1 }), fc.nat(50_000))
        .map(([text, n]) => Buffer.from(text.repeat(n + 1).slice(0, 3_000_000))),
    );
    fc.assert(
      fc.property(fc.array(raw, { maxLength: 6 }), list => {
        for (const bytes of list) {
          expect(Buffer.compare(decoder.unpack(zstdCompressSync(bytes), bytes.length), bytes)).toBe(0);
        }
      }),
    );
  });

  test('decompresses content larger than its scratch buffer', () => {
    const raw = Buffer.alloc(9 * 1024 * 1024, 'some text ');
    expect(new ZstdDecoder().unpack(zstdCompressSync(raw), raw.length).equals(raw)).toBe(true);
  });

  test('works on the handle, whose traps these tests are about', () => {
    expect(new ZstdDecoder().usesHandle).toBe(true);
  });

  test('never gives the bytes of an earlier frame for a broken one', () => {
    const decoder = new ZstdDecoder();
    const secret = Buffer.from('of another tenant, '.repeat(40));
    const noise = Buffer.from(Array.from({ length: secret.length }, (_, i) => (i * 7919) % 251));
    const packed = zstdCompressSync(secret);
    for (const at of [4, 5, 6, 7]) {
      const broken = zstdCompressSync(noise);
      broken[at] ^= 0xff;
      expect(decoder.unpack(packed, secret.length).equals(secret)).toBe(true);
      let out: Buffer | undefined;
      try {
        out = decoder.unpack(broken, secret.length);
      } catch (error) {
        expect(String(error)).toMatch(/Error/);
      }
      expect(out?.equals(secret) ?? false).toBe(false);
      expect(decoder.unpack(packed, secret.length).equals(secret)).toBe(true);
    }
  });

  test('never returns wrong bytes for a broken frame or a wrong length, and continues after it', async () => {
    const decoder = new ZstdDecoder();
    const raw = Buffer.from('line after line, '.repeat(500));
    const frame = zstdCompressSync(raw);
    const attempts: [Buffer, number][] = [
      [frame.subarray(0, frame.length - 3), raw.length],
      [frame, raw.length - 1],
      [frame, raw.length + 1],
      [Buffer.from('no frame at all'), 10],
      [Buffer.alloc(0), 10],
    ];
    for (let at = 0; at < frame.length; at++) {
      const changed = Buffer.from(frame);
      changed[at] ^= 0x55;
      attempts.push([changed, raw.length]);
    }
    for (const [bytes, length] of attempts) {
      let out: Buffer | undefined;
      try {
        out = Buffer.from(decoder.unpack(bytes, length));
      } catch (error) {
        expect(String(error)).toMatch(/Error/);
      }
      // Without a checksum in the frame a changed literal is not detected; the caller's checksum detects it
      // before.
      if (out !== undefined && bytes.length < frame.length) expect(out.length).toBeLessThanOrEqual(length);
      expect(decoder.unpack(frame, raw.length).equals(raw)).toBe(true);
      await new Promise(resolve => setImmediate(resolve));
      expect(decoder.unpack(frame, raw.length).equals(raw)).toBe(true);
    }
  });
});

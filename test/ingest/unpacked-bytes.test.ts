/**
 * Memory of a body during decompression: buffers are freed after they are copied, and everything if the body
 * is refused.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { createGunzip, createZstdDecompress, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { type Pace, UNPACED } from '../../shared/base/model/steps.ts';
import type { HeldBytes } from '../../shared/write/ingest/push-budget.ts';
import { pump, UnpackedBytes } from '../../shared/write/ingest/unpacked-bytes.ts';

const MIB = 1024 * 1024;
const HELD: HeldBytes = { take: () => undefined, release: () => undefined };

function contentOf(maxBytes: number): UnpackedBytes {
  return new UnpackedBytes({ maxBytes, held: HELD, pace: UNPACED }, { prepaid: 0, ahead: 0 });
}

test('a full buffer is freed once it is copied, and others are left to their stream', async () => {
  const content = contentOf(64 * MIB);
  const whole = [1, 2, 3].map(byte => Buffer.alloc(2 * MIB, byte));
  const buffer = Buffer.alloc(2 * MIB, 4);
  const parts = [...whole, buffer.subarray(0, MIB)];
  for (const part of parts) await content.add(part);
  expect(parts.map(({ length }) => length)).toEqual([0, 0, 0, MIB]);
  const bytes = content.finish();
  expect([bytes.length, bytes[0], bytes[2 * MIB], bytes[6 * MIB]]).toEqual([7 * MIB, 1, 2, 4]);
});

test('buffers of a refused body are freed', async () => {
  const content = contentOf(8 * MIB);
  const parts: Buffer[] = [];
  for (let i = 0; i < 4; i++) {
    parts.push(Buffer.alloc(2 * MIB));
    await content.add(parts[i]);
  }
  const taken = content.finish();
  expect(taken.length).toBe(8 * MIB);
  const more = gzipSync(Buffer.alloc(1));
  await expect(pump(createGunzip(), more, content, error => error)).rejects.toThrow(
    'request body too large: decompressed message size too large than max (8388609 vs 8388608)',
  );
  expect(taken.length).toBe(0);
});

/**
 * Runs next to other tenants' work: each step waits for rounds of the event loop, in which the stream
 * continues.
 */
const SLOW: Pace = {
  ...UNPACED,
  due: () => true,
  async yieldIfDue() {
    for (let round = 0; round < 5; round++) await nextRound();
  },
};

test.each([
  ['gzip', gzipSync, createGunzip],
  ['zstd', zstdCompressSync, createZstdDecompress],
])('%s: the end of the stream waits until the last buffer is consumed', async (_, pack, unpack) => {
  for (const bytes of [5 * MIB, 9_045_000, 13_366_500, 20_100_000]) {
    const raw = Buffer.alloc(bytes);
    for (let i = 0; i + 4 <= bytes; i += 1000) raw.writeUInt32LE(i, i);
    const content = new UnpackedBytes(
      { maxBytes: 64 * MIB, held: HELD, pace: SLOW },
      { prepaid: 0, ahead: 0 },
    );
    // Two of them, one after the other, as frames of a body are.
    const stream = () => unpack({ chunkSize: 256 * 1024 });
    for (let frame = 0; frame < 2; frame++) await pump(stream(), pack(raw), content, error => error);
    const found = content.finish();
    expect([found.length, found.equals(Buffer.concat([raw, raw]))]).toEqual([2 * bytes, true]);
  }
});

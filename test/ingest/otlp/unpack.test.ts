/** Encodings of OTLP bodies, their limits, and corrupt input. */
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compress, decompress } from 'lz4js';
import { ClientError } from '../../../shared/base/model/errors.ts';
import { UNPACED } from '../../../shared/base/model/steps.ts';
import { decodeLz4Frames } from '../../../shared/write/ingest/otlp/lz4-frame.ts';
import { unpackLogs } from '../../../shared/write/ingest/otlp/unpack.ts';
import { xxh32 } from '../../../shared/write/ingest/otlp/xxh32.ts';
import { PushBudget, PushMemoryError } from '../../../shared/write/ingest/push-budget.ts';

const LIMITS = { maxBodyBytes: 10_000, maxDecompressedBytes: 100_000 };
const HELD = { take: () => undefined, release: () => {} };
const TEXT = Buffer.from('body '.repeat(20));
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const lz4 = (body: Uint8Array) => Buffer.from(compress(body));

async function outcome(body: Uint8Array, contentEncoding: string | undefined): Promise<string> {
  try {
    return (await unpackLogs(body, { contentEncoding }, LIMITS, HELD)).toString();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return `${error.status} ${error.message}`;
  }
}

const TOO_LARGE =
  '413 request body too large: decompressed message size too large than max (100001 vs 100000)';
const ZEROS = Buffer.alloc(5_000_000);
/**
 * Node.js 26 decodes all frames of a body with one stream at almost no cost; Node.js 24 needs one per frame.
 */
const TAKES_ALL_FRAMES =
  zstdDecompressSync(Buffer.concat([zstdCompressSync('a'), zstdCompressSync('b')])).length === 2;

describe('unpackLogs', () => {
  // [case, body, content encoding, want]
  const rows: [string, Uint8Array, string | undefined, string][] = [
    ['as it is', TEXT, undefined, TEXT.toString()],
    ['empty encoding', TEXT, '', TEXT.toString()],
    ['gzip', gzipSync(TEXT), 'gzip', TEXT.toString()],
    ['zstd', zstdCompressSync(TEXT), 'zstd', TEXT.toString()],
    ['two zstd frames', Buffer.concat([zstdCompressSync('a'), zstdCompressSync('b')]), 'zstd', 'ab'],
    [
      'zstd and then something else',
      Buffer.concat([zstdCompressSync('a'), TEXT]),
      'zstd',
      '400 zstd: invalid input',
    ],
    [
      'too many zstd frames',
      Buffer.concat(Array.from({ length: 1001 }, () => zstdCompressSync(''))),
      'zstd',
      TAKES_ALL_FRAMES ? '' : '400 zstd: more than 1000 frames',
    ],
    ['lz4', lz4(TEXT), 'lz4', TEXT.toString()],
    ['nothing in zstd', new Uint8Array(), 'zstd', ''],
    ['nothing in lz4', new Uint8Array(), 'lz4', ''],
    ['nothing in gzip', new Uint8Array(), 'gzip', '400 EOF'],
    [
      'snappy',
      TEXT,
      'snappy',
      '400 unsupported content encoding snappy: only gzip, lz4 and zstd are supported',
    ],
    ['br', TEXT, 'br', '400 unsupported content encoding br: only gzip, lz4 and zstd are supported'],
    ['no gzip', TEXT, 'gzip', '400 gzip: invalid header'],
    ['no zstd', TEXT, 'zstd', '400 zstd: invalid input'],
    ['zstd cut off', zstdCompressSync(TEXT).subarray(0, -3), 'zstd', '400 unexpected EOF'],
    ['no lz4', TEXT, 'lz4', '400 lz4: bad magic number'],
    ['gzip over the limit', gzipSync(ZEROS), 'gzip', TOO_LARGE],
    ['zstd over the limit', zstdCompressSync(ZEROS), 'zstd', TOO_LARGE],
    ['lz4 over the limit', lz4(Buffer.alloc(1_000_000)), 'lz4', TOO_LARGE],
    ['zstd of exactly the limit', zstdCompressSync(Buffer.alloc(100_000, 'a')), 'zstd', 'a'.repeat(100_000)],
    ['lz4 of exactly the limit', lz4(Buffer.alloc(100_000, 'a')), 'lz4', 'a'.repeat(100_000)],
    // A frame that declares a window of 1 GiB.
    ['a window over the limit', hex('28b52ffd 00 a0 010000'), 'zstd', '400 zstd: invalid input'],
  ];
  test.each(rows)('%s', async (_, body, contentEncoding, want) => {
    expect(await outcome(body, contentEncoding)).toBe(want);
  });

  test.each([undefined, 'gzip', 'zstd', 'lz4'])('refuses %s over the compressed limit', async encoding => {
    expect(await outcome(Buffer.alloc(10_001), encoding)).toBe(
      '413 request body too large: message size too large than max (10001 vs 10000)',
    );
  });

  test.each(['zstd', 'lz4'])(
    '%s: counts the decompressed size and is granted memory or refused',
    async contentEncoding => {
      const raw = Buffer.alloc(90_000, 'line after line, ');
      const body = contentEncoding === 'zstd' ? zstdCompressSync(raw) : lz4(raw);
      const budget = new PushBudget({ maxBytes: 100_000, maxWaitMs: 1 });
      const first = budget.open('a');
      expect((await unpackLogs(body, { contentEncoding }, LIMITS, first)).equals(raw)).toBe(true);
      const second = budget.open('a');
      await expect(async () => unpackLogs(body, { contentEncoding }, LIMITS, second)).rejects.toThrow(
        PushMemoryError,
      );
    },
  );
});

const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat(5000))
    .map(([part, count]) => Buffer.alloc(part.length * count, part)),
  fc
    .array(fc.constantFrom('level=info ', 'took 12ms ', 'path=/a/b '), { maxLength: 8000 })
    .map(parts => Buffer.from(parts.join(''))),
);
const decode = (frames: Uint8Array, maxBytes = 10_000_000) =>
  decodeLz4Frames(frames, { maxBytes, held: HELD, pace: UNPACED });

describe('LZ4 frames', () => {
  test('property: decode the output of an independent encoder', async () => {
    await fc.assert(
      fc.asyncProperty(content, async raw => expect((await decode(lz4(raw))).equals(raw)).toBe(true)),
    );
  });

  test('property: a changed frame is refused, or decodes like the oracle', async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.nat(), fc.nat(255), fc.nat(), async (raw, at, byte, cut) => {
        const frame = lz4(raw);
        frame[at % frame.length] = byte;
        try {
          const decoded = await decode(frame.subarray(0, frame.length - (cut % 8)), 1_000_000);
          expect(decoded.equals(Buffer.from(decompress(frame)))).toBe(true);
        } catch (error) {
          if (!(error instanceof ClientError)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });

  // Made by hand: header, blocks, end mark, checksums.
  const header = (flags: string, more = '', block = '40') => {
    const descriptor = hex(flags + block + more);
    return `04224d18 ${descriptor.toString('hex')} ${((xxh32(descriptor, 0, descriptor.length) >> 8) & 255).toString(16).padStart(2, '0')}`;
  };
  const word = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return bytes.toString('hex');
  };
  const hash = (text: string) => word(xxh32(Buffer.from(text), 0, text.length));
  const PLAIN_ABC = `${word(0x80000003)} 616263`;
  const REPEAT = '32 616263 0300 10 64'; // abc, 6 bytes from 3 back, d

  // [case, bytes, content]
  const accepted: [string, string, string][] = [
    ['no blocks', `${header('60')} 00000000`, ''],
    ['a plain block', `${header('60')} ${PLAIN_ABC} 00000000`, 'abc'],
    ['a copy that repeats', `${header('60')} ${word(8)} ${REPEAT} 00000000`, 'abcabcabcd'],
    [
      'linked blocks',
      `${header('40')} ${PLAIN_ABC} ${word(5)} 00 0300 10 64 00000000`,
      'abcabcad'.slice(0, 3) + 'abca' + 'd',
    ],
    ['block checksums', `${header('70')} ${PLAIN_ABC} ${hash('abc')} 00000000`, 'abc'],
    ['a content checksum', `${header('64')} ${PLAIN_ABC} 00000000 ${hash('abc')}`, 'abc'],
    ['a content size', `${header('68', '0300000000000000')} ${PLAIN_ABC} 00000000`, 'abc'],
    ['two frames', `${header('60')} ${PLAIN_ABC} 00000000 ${header('60')} ${PLAIN_ABC} 00000000`, 'abcabc'],
    ['a skippable frame', `5a2a4d18 02000000 ffff ${header('60')} ${PLAIN_ABC} 00000000`, 'abc'],
  ];
  test.each(accepted)('%s', async (_, bytes, want) => {
    expect((await decode(hex(bytes))).toString()).toBe(want);
  });

  // [case, bytes, message]
  const refused: [string, string, string][] = [
    ['no end mark', `${header('60')} ${PLAIN_ABC}`, 'unexpected EOF'],
    ['a block cut off', `${header('60')} ${word(0x80000009)} 61`, 'unexpected EOF'],
    ['a header cut off', '04224d18 60', 'unexpected EOF'],
    ['the legacy format', '02214c18 00', 'lz4: bad magic number'],
    ['another version', header('a0'), 'lz4: unsupported version'],
    ['reserved flags', header('62'), 'lz4: invalid frame header'],
    ['reserved bits of the block', header('60', '', 'c0'), 'lz4: invalid frame header'],
    ['a block size that is none', header('60', '', '30'), 'lz4: invalid frame header'],
    ['a dictionary', header('61', '01000000'), 'lz4: dictionaries are not supported'],
    ['a wrong header checksum', '04224d18 6040 00', 'lz4: invalid header checksum'],
    ['a wrong block checksum', `${header('70')} ${PLAIN_ABC} 00000000`, 'lz4: invalid block checksum'],
    [
      'a wrong content checksum',
      `${header('64')} ${PLAIN_ABC} 00000000 00000000`,
      'lz4: invalid frame checksum',
    ],
    [
      'a wrong content size',
      `${header('68', '0400000000000000')} ${PLAIN_ABC} 00000000`,
      'lz4: the content has another size than its frame says',
    ],
    [
      'a block larger than the frame says',
      `${header('60')} ${word(0x80010001)} ${'00'.repeat(65_537)}`,
      'lz4: a block is larger than its frame allows',
    ],
    ['a copy from before the frame', `${header('60')} ${word(4)} 00 0100 00 00000000`, 'lz4: corrupt block'],
    [
      'a copy from a block that is not linked',
      `${header('60')} ${PLAIN_ABC} ${word(5)} 00 0300 10 64 00000000`,
      'lz4: corrupt block',
    ],
    ['a copy from nowhere', `${header('60')} ${word(7)} 32 616263 0000 00 00000000`, 'lz4: corrupt block'],
    ['an end behind a copy', `${header('60')} ${word(6)} 32 616263 0300 00000000`, 'lz4: corrupt block'],
    ['literals past the block', `${header('60')} ${word(2)} 30 61 00000000`, 'lz4: corrupt block'],
  ];
  test.each(refused)('%s', async (_, bytes, message) => {
    await expect(decode(hex(bytes))).rejects.toMatchObject({ status: 400, message });
  });
});

// The hashes are those of the reference implementation of xxHash.
test.each([
  ['', 0x02cc5d05],
  ['a', 0x550d7456],
  ['abc', 0x32d153ff],
  ['Nobody inspects the spammish repetition', 0xe2293b2f],
])('xxh32 hashes %j', (text, want) => {
  expect(xxh32(Buffer.from(`-${text}`), 1, text.length + 1)).toBe(want);
});

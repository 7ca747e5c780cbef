import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compress, uncompress } from 'snappyjs';
import { ClientError } from '../../shared/base/model/errors.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { uncompressSnappy } from '../../shared/write/ingest/snappy.ts';
import { holds, refusal } from './entries.ts';

const MAX = 1 << 20;
const CORRUPT: [number, string] = [400, 'snappy: corrupt input'];

describe('uncompressSnappy', () => {
  test('decodes the output of an independent encoder', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 60 }))
        .map(([part, times]) =>
          Uint8Array.from({ length: part.length * times }, (_, i) => part[i % part.length]),
        ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), pieces => {
        const raw = Buffer.concat(pieces);
        expect(atOnce(uncompressSnappy(compress(raw), MAX)).equals(raw)).toBe(true);
      }),
    );
  });

  test('agrees with an independent decoder on changed blocks', () => {
    const raw = Buffer.from('level=info msg="a b c" '.repeat(30));
    const block = compress(raw);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(block.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        changes => {
          const changed = Uint8Array.from(block);
          for (const [at, byte] of changes) changed[at] = byte;
          let want: Uint8Array | undefined;
          try {
            want = uncompress(changed, MAX);
          } catch {
            want = undefined;
          }
          try {
            const got = atOnce(uncompressSnappy(changed, MAX));
            expect(want !== undefined && Buffer.from(want).equals(got)).toBe(true);
          } catch (error) {
            // The other decoder accepts some blocks that yield fewer or more bytes than they declare.
            if (!(error instanceof ClientError)) throw error;
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('fails on random bytes only with a client error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes =>
        holds(() => atOnce(uncompressSnappy(bytes, MAX))),
      ),
      { numRuns: 2000 },
    );
  });

  // [case, block]
  const corrupt: [string, number[]][] = [
    ['empty', []],
    ['length without end', [0x80, 0x80]],
    ['length of six bytes', [0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
    ['length above 32 bits', [0xff, 0xff, 0xff, 0xff, 0x1f]],
    ['declares more than elements can yield', [0xff, 0xff, 0x3f, 0x00, 0x61]],
    ['nothing behind the length', [0x01]],
    ['literal past the end', [0x04, 0x0c, 0x61]],
    ['literal length past the end', [0x04, 0xf0]],
    ['literal over the declared length', [0x01, 0x04, 0x61, 0x62]],
    ['copy before the start', [0x08, 0x00, 0x61, 0x01, 0x02]],
    ['copy with offset 0', [0x08, 0x00, 0x61, 0x01, 0x00]],
    ['copy over the declared length', [0x03, 0x00, 0x61, 0x01, 0x01]],
    ['copy cut off, one byte of offset', [0x08, 0x00, 0x61, 0x01]],
    ['copy cut off, two bytes of offset', [0x08, 0x00, 0x61, 0x02, 0x01]],
    ['copy cut off, four bytes of offset', [0x08, 0x00, 0x61, 0x03, 0x01, 0x00, 0x00]],
    ['fewer bytes than declared', [0x05, 0x00, 0x61]],
    ['framing format', [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]],
  ];
  test.each(corrupt)('%s', (_, block) => {
    expect(refusal(() => atOnce(uncompressSnappy(Uint8Array.from(block), MAX)))).toEqual(CORRUPT);
  });

  // [case, block, text]
  const valid: [string, number[], string][] = [
    ['nothing', [0x00], ''],
    ['literal', [0x03, 0x08, 0x61, 0x62, 0x63], 'abc'],
    ['literal with a length byte', [0x03, 0xf0, 0x02, 0x61, 0x62, 0x63], 'abc'],
    ['literal with four length bytes', [0x03, 0xfc, 0x02, 0, 0, 0, 0x61, 0x62, 0x63], 'abc'],
    ['overlapping copy', [0x09, 0x00, 0x61, 0x1d - 0x0c, 0x01], 'a'.repeat(9)],
    ['copy with four bytes of offset', [0x06, 0x08, 0x61, 0x62, 0x63, 0x0b, 0x03, 0, 0, 0], 'abcabc'],
  ];
  test.each(valid)('%s', (_, block, text) => {
    expect(atOnce(uncompressSnappy(Uint8Array.from(block), MAX)).toString()).toBe(text);
  });

  test('checks the declared length before it allocates memory', () => {
    expect(
      refusal(() => atOnce(uncompressSnappy(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0), MAX))),
    ).toEqual([
      413,
      'request body too large: decompressed message size too large than max (4294967295 vs 1048576)',
    ]);
  });
});

import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compress } from 'snappyjs';
import { ClientError } from '../../shared/base/model/errors.ts';
import { type BodyHeaders, decompressBody } from '../../shared/write/ingest/body.ts';
import { pushFormat } from '../../shared/write/ingest/content.ts';
import { PushBudget, PushMemoryError } from '../../shared/write/ingest/push-budget.ts';
import { refusal } from './entries.ts';

const LIMITS = { maxBodyBytes: 10_000, maxDecompressedBytes: 100_000 };
const JSON_TYPE = 'application/json';
const HELD = { take: () => undefined, release: () => {} };
const TEXT = Buffer.from('{"streams":[]}');
const BLOCK = Buffer.from(compress(TEXT));

async function outcome(body: Uint8Array, headers: BodyHeaders): Promise<string> {
  try {
    return (await decompressBody(body, headers, LIMITS, HELD)).toString();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return `${error.status} ${error.message}`;
  }
}

describe('decompressBody', () => {
  // [case, body, content encoding, content type, want]
  const rows: [string, Uint8Array, string | undefined, string | undefined, string][] = [
    ['JSON as it is', TEXT, undefined, JSON_TYPE, TEXT.toString()],
    ['JSON, empty encoding', TEXT, '', JSON_TYPE, TEXT.toString()],
    ['JSON that says snappy', TEXT, 'snappy', `${JSON_TYPE}; charset=utf-8`, TEXT.toString()],
    ['JSON in gzip', gzipSync(TEXT), 'gzip', JSON_TYPE, TEXT.toString()],
    ['JSON in two gzip members', Buffer.concat([gzipSync('{'), gzipSync('}')]), 'gzip', JSON_TYPE, '{}'],
    ['JSON in raw deflate', deflateRawSync(TEXT), 'deflate', JSON_TYPE, TEXT.toString()],
    ['snappy', BLOCK, undefined, undefined, TEXT.toString()],
    ['snappy that says so', BLOCK, 'snappy', 'application/x-protobuf', TEXT.toString()],
    ['snappy in gzip', gzipSync(BLOCK), 'gzip', 'text/plain', TEXT.toString()],
    ['snappy in raw deflate', deflateRawSync(BLOCK), 'deflate', 'application/x-protobuf', TEXT.toString()],
    ['zlib header', deflateSync(TEXT), 'deflate', JSON_TYPE, '400 flate: corrupt input'],
    ['zstd', TEXT, 'zstd', JSON_TYPE, '400 Content-Encoding "zstd" not supported'],
    ['identity', TEXT, 'identity', JSON_TYPE, '400 Content-Encoding "identity" not supported'],
    ['no gzip', TEXT, 'gzip', JSON_TYPE, '400 gzip: invalid header'],
    ['gzip cut off', gzipSync(TEXT).subarray(0, 15), 'gzip', JSON_TYPE, '400 unexpected EOF'],
    ['gzip of nothing', new Uint8Array(), 'gzip', JSON_TYPE, '400 EOF'],
    ['plain protobuf', TEXT, undefined, 'application/x-protobuf', '400 snappy: corrupt input'],
    ['empty protobuf', new Uint8Array(), undefined, 'application/x-protobuf', '400 snappy: corrupt input'],
    ['exactly the compressed limit', Buffer.alloc(10_000, 0x61), undefined, JSON_TYPE, 'a'.repeat(10_000)],
    [
      'over the compressed limit',
      Buffer.alloc(10_001),
      undefined,
      JSON_TYPE,
      '413 request body too large: message size too large than max (10001 vs 10000)',
    ],
    [
      'gzip of exactly the limit',
      gzipSync(Buffer.alloc(100_000, 0x61)),
      'gzip',
      JSON_TYPE,
      'a'.repeat(100_000),
    ],
    [
      'gzip over the limit',
      gzipSync(Buffer.alloc(5_000_000)),
      'gzip',
      JSON_TYPE,
      '413 request body too large: decompressed message size too large than max (100001 vs 100000)',
    ],
    [
      'deflate over the limit',
      deflateRawSync(Buffer.alloc(5_000_000)),
      'deflate',
      JSON_TYPE,
      '413 request body too large: decompressed message size too large than max (100001 vs 100000)',
    ],
    [
      'snappy over the limit',
      compress(Buffer.alloc(100_001)),
      undefined,
      undefined,
      '413 request body too large: decompressed message size too large than max (100001 vs 100000)',
    ],
  ];
  test.each(rows)('%s', async (_, body, contentEncoding, contentType, want) => {
    expect(await outcome(body, { contentEncoding, contentType })).toBe(want);
  });

  test('does not copy an uncompressed body', () => {
    expect(decompressBody(TEXT, { contentType: JSON_TYPE }, LIMITS, HELD)).toBe(TEXT);
  });

  test.each(['gzip', 'deflate', undefined])(
    '%s: counts the decompressed size and is granted memory or refused',
    async contentEncoding => {
      const raw = Buffer.alloc(90_000, 'line after line, ');
      const pack = { gzip: gzipSync, deflate: deflateRawSync, undefined: compress }[`${contentEncoding}`]!;
      const headers = { contentEncoding, contentType: contentEncoding && JSON_TYPE };
      const budget = new PushBudget({ maxBytes: 100_000, maxWaitMs: 1 });
      const first = budget.open('a');
      expect((await decompressBody(pack(raw), headers, LIMITS, first)).equals(raw)).toBe(true);
      const second = budget.open('a');
      await expect(async () => decompressBody(pack(raw), headers, LIMITS, second)).rejects.toThrow(
        PushMemoryError,
      );
      second.release();
      first.release();
      expect((await decompressBody(pack(raw), headers, LIMITS, budget.open('a'))).equals(raw)).toBe(true);
    },
  );

  test('fails on random bytes only with a client error', async () => {
    const encoding = fc.constantFrom(undefined, 'gzip', 'deflate');
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.concat([Buffer.from('1f8b08', 'hex'), bytes])),
    );
    await fc.assert(
      fc.asyncProperty(body, encoding, async (bytes, contentEncoding) => {
        await outcome(bytes, { contentEncoding });
      }),
      { numRuns: 500 },
    );
  });
});

describe('pushFormat', () => {
  // [header, want]
  const rows: [string | undefined, string][] = [
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['Application/JSON;charset="utf-8" ;', 'json'],
    ['application/json; a="x;y\\";z"', 'json'],
    ['application/x-protobuf', 'protobuf'],
    ['application/vnd.google.protobuf', 'protobuf'],
    ['text/plain', 'protobuf'],
    ['json', 'protobuf'],
  ];
  test.each(rows)('%j', (header, want) => {
    expect(pushFormat(header)).toBe(want);
  });

  const bad: [string | undefined, string][] = [
    [undefined, 'mime: no media type'],
    ['', 'mime: no media type'],
    [' ; charset=utf-8', 'mime: no media type'],
    ['/json', 'mime: no media type'],
    ['application json', 'mime: expected slash after first token'],
    ['application/', 'mime: expected token after slash'],
    ['application/json x', 'mime: unexpected content after media subtype'],
    ['application/json; charset', 'mime: invalid media parameter'],
    ['application/json; ; a=b', 'mime: invalid media parameter'],
  ];
  test.each(bad)('refuses %j', (header, message) => {
    expect(refusal(() => pushFormat(header))).toEqual([400, message]);
  });
});

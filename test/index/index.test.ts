import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { ByteReader, ByteWriter } from '../../shared/storage/codec/byte-io.ts';
import { loadBlock } from '../../shared/storage/codec/compression.ts';
import { decodeCounts, encodeCounts } from '../../shared/storage/index/counts-block.ts';
import { readIndexHead } from '../../shared/storage/index/day-index.ts';
import { decodeDirectory, readTrailer } from '../../shared/storage/index/directory.ts';
import { INDEX_TRAILER_BYTES } from '../../shared/storage/index/format.ts';
import { presenceOfFooter, readPresence, writePresence } from '../../shared/storage/index/presence.ts';
import { decodeStreams, encodeStreams } from '../../shared/storage/index/stream-list.ts';
import { encodeIndex, extendIndex } from '../../shared/storage/index/write.ts';
import { bufferSource } from '../support/buffer-source.ts';
import { streamOf } from '../support/rows.ts';
import {
  arbitraryChunks,
  DAY,
  expectedOf,
  footerOfChunk,
  footersOf,
  type PlainChunk,
  TENANT,
  type Told,
  toldBy,
} from './chunks.ts';

const HEAD = { tenant: TENANT, day: DAY, createdMs: 1_763_600_000_000 };

async function objectOf(chunks: readonly PlainChunk[]): Promise<Buffer> {
  return encodeIndex({ ...HEAD, chunks: await footersOf(chunks) });
}

function open(object: Buffer, headBytes?: number) {
  return readIndexHead(bufferSource(object), { tenant: TENANT, day: DAY, headBytes });
}

const SAMPLE: readonly PlainChunk[] = [
  {
    id: 'aa'.repeat(16),
    entries: [
      { stream: { app: 'a' }, time: 5, line: 'first', metadata: { detected_level: 'info' } },
      { stream: { app: 'a' }, time: 60_000_000_001, line: 'second', metadata: {} },
      { stream: { app: 'b' }, time: 9, line: 'third', metadata: { trace: 'x' } },
    ],
  },
  {
    id: 'bb'.repeat(16),
    entries: [{ stream: { app: 'b' }, time: 86_399_999_999_999, line: '', metadata: {} }],
  },
];

describe('an index', () => {
  test('describes the contents of the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryChunks(), async chunks => {
        const index = await open(await objectOf(chunks));
        expect(await toldBy(index)).toEqual(expectedOf(chunks));
        expect(index).toMatchObject(HEAD);
      }),
      { numRuns: 60 },
    );
  });

  test('has the same bytes for each way to create it', async () => {
    const split = fc.record({
      chunks: arbitraryChunks(8, 12),
      fates: fc.array(fc.constantFrom('kept', 'gone', 'added'), { minLength: 8, maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(split, async ({ chunks, fates }) => {
        const of = (...wanted: string[]) => footersOf(chunks.filter((_, i) => wanted.includes(fates[i])));
        const old = await open(
          await encodeIndex({ ...HEAD, createdMs: 1, chunks: await of('kept', 'gone') }),
        );
        const gone = new Set((await of('gone')).map(({ id }) => id));
        const { createdMs } = HEAD;
        const extended = await extendIndex(old, { createdMs, gone, added: await of('added') });
        const whole = await encodeIndex({ ...HEAD, chunks: await of('kept', 'added') });
        expect(extended.equals(whole)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('accepts a chunk once, and skips unknown IDs', async () => {
    const footers = await footersOf(SAMPLE);
    const object = await objectOf(SAMPLE);
    const change = { createdMs: HEAD.createdMs, gone: new Set(['cc'.repeat(16)]), added: footers };
    expect((await extendIndex(await open(object), change)).equals(object)).toBe(true);
  });

  test('omits chunks beyond its bounds, and is correct for the others', async () => {
    const bounds = fc.record({
      maxChunks: fc.integer({ min: 1, max: 6 }),
      maxPresences: fc.integer({ min: 1, max: 12 }),
      maxStreamBytes: fc.integer({ min: 20, max: 100 }),
      maxCountsBytes: fc.integer({ min: 20, max: 300 }),
    });
    let leftOut = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryChunks(), bounds, async (chunks, limits) => {
        const footers = await footersOf(chunks);
        const index = await open(await encodeIndex({ ...HEAD, chunks: footers, bounds: limits }));
        const covered = chunks.filter(({ id }) => index.covers(id));
        expect(await toldBy(index)).toEqual(expectedOf(covered));
        leftOut += chunks.length - covered.length;
        const presences = covered.map(({ id }) => index.presenceOf(id)!.streams.length);
        expect(covered.length).toBeLessThanOrEqual(limits.maxChunks);
        expect(presences.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(limits.maxPresences);
        const text = index.streams.reduce((sum, stream) => sum + Buffer.byteLength(stream.text), 0);
        expect(text).toBeLessThanOrEqual(limits.maxStreamBytes);
        // With budget for all, the remaining footers are added.
        const change = { createdMs: HEAD.createdMs, gone: new Set<string>(), added: footers };
        const whole = await encodeIndex({ ...HEAD, chunks: footers });
        expect((await extendIndex(index, change)).equals(whole)).toBe(true);
      }),
      { numRuns: 60 },
    );
    expect(leftOut).toBeGreaterThan(0);
  });

  test('answers for covered chunks only', async () => {
    const index = await open(await objectOf(SAMPLE));
    expect(index.covers('bb'.repeat(16))).toBe(true);
    expect(index.covers('cc'.repeat(16))).toBe(false);
    expect(index.summaryOf('cc'.repeat(16))).toBeUndefined();
    expect(index.presenceOf('cc'.repeat(16))).toBeUndefined();
    expect(await index.counts('cc'.repeat(16))).toBeUndefined();
    expect(index.chunks.map(({ id }) => id)).toEqual(['aa'.repeat(16), 'bb'.repeat(16)]);
  });

  test('an index of no chunks is empty', async () => {
    const index = await open(await encodeIndex({ ...HEAD, chunks: [] }));
    expect(index.chunks).toEqual([]);
    expect(index.streams).toEqual([]);
  });

  test('is read with one range if the size of its head is known, otherwise with at most two', async () => {
    const object = await objectOf(SAMPLE);
    const { headBytes } = readTrailer(object, object.length, 'index');
    for (const [hint, reads] of [
      [headBytes, 1],
      [object.length * 2, 1],
      [undefined, 1],
      [headBytes - 1, 2],
      [0, 2],
    ] as const) {
      let count = 0;
      const source = {
        bytes: object.length,
        read: async (start: number, end: number) => {
          count++;
          return object.subarray(start, end);
        },
      };
      const index = await readIndexHead(source, { tenant: TENANT, day: DAY, headBytes: hint });
      expect(count).toBe(reads);
      expect(await toldBy(index)).toEqual(expectedOf(SAMPLE));
      count = 0;
      for await (const [id, counts] of index.countsOf(index.chunks.map(chunk => chunk.id))) {
        expect(counts).toEqual(await (await open(object)).counts(id));
      }
      expect(count).toBe(1);
    }
  });

  test('accepts only footers of its tenant and day, which add up', async () => {
    const { id, footer } = await footerOfChunk(SAMPLE[0]);
    const wrong = [
      { id, footer: { ...footer, tenant: 'other' } },
      { id, footer: { ...footer, day: DAY + 1 } },
      { id: 'cc'.repeat(16), footer },
    ];
    for (const chunk of wrong) {
      await expect(encodeIndex({ ...HEAD, chunks: [chunk] })).rejects.toThrow(/invariant broken: footer of/);
    }
    const broken = [
      { ...footer, rows: footer.rows + 1 },
      { ...footer, first: footer.first - 1 },
      { ...footer, counts: Array.from(footer.counts, () => []) },
    ];
    for (const one of broken) {
      await expect(encodeIndex({ ...HEAD, chunks: [{ id, footer: one }] })).rejects.toThrow(CorruptionError);
    }
  });

  test('an index of another tenant or day is refused', async () => {
    const source = bufferSource(await objectOf(SAMPLE));
    for (const other of [
      { tenant: 'other', day: DAY },
      { tenant: TENANT, day: DAY + 1 },
    ]) {
      await expect(readIndexHead(source, other)).rejects.toThrow(/belongs to t-1 day 20412/);
    }
  });
});

describe('a damaged index', () => {
  async function read(object: Buffer): Promise<Told | undefined> {
    try {
      return await toldBy(await open(object));
    } catch (error) {
      expect(error).toBeInstanceOf(CorruptionError);
      return undefined;
    }
  }

  test('is reported as corrupt or gives its original content', async () => {
    const object = await objectOf(SAMPLE);
    const want = expectedOf(SAMPLE);
    let refused = 0;
    for (let at = 0; at < object.length; at++) {
      for (const bit of [1, 0x80]) {
        const damaged = Buffer.from(object);
        damaged[at] ^= bit;
        const told = await read(damaged);
        if (told === undefined) refused++;
        else expect(told).toEqual(want);
      }
    }
    expect(refused).toBe(object.length * 2);
  });

  test('cut at either end is a corruption', async () => {
    const object = await objectOf(SAMPLE);
    for (let length = 0; length < object.length; length++) {
      expect(await read(object.subarray(0, length))).toBeUndefined();
      expect(await read(object.subarray(object.length - length))).toBeUndefined();
    }
  });

  test('does not become another index when its counts are copied', async () => {
    const object = await objectOf(SAMPLE);
    const damaged = Buffer.from(object);
    damaged[0] ^= 1;
    const old = await open(damaged);
    const change = { createdMs: 1, gone: new Set<string>(), added: [] };
    await expect(extendIndex(old, change)).rejects.toThrow(/checksum differs/);
  });
});

describe('decoders, of bytes whose checksum is right', () => {
  /** Valid bytes with some of them changed, and any bytes. */
  const spoiled = (valid: Buffer) =>
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
      fc
        .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
        .map(changes => {
          const bytes = Buffer.from(valid);
          for (const [at, value] of changes) bytes[at] = value;
          return bytes;
        }),
    );

  function holds(valid: Buffer, decode: (bytes: Buffer) => void): void {
    decode(valid);
    fc.assert(
      fc.property(spoiled(valid), bytes => {
        try {
          decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError);
        }
      }),
      { numRuns: 3000 },
    );
  }

  test('decoded streams are distinct and in order', () => {
    const streams = SAMPLE[0].entries.map(({ stream }) => streamOf(stream)).slice(1);
    holds(encodeStreams(streams), bytes => {
      const texts = decodeStreams(bytes, 'index').map(({ text }) => text);
      expect(texts).toEqual([...new Set(texts)].sort(compareUtf8));
    });
  });

  test('counts add up to the entries, and name minutes of a day', async () => {
    const { footer } = await footerOfChunk(SAMPLE[0]);
    holds(encodeCounts({ levels: footer.levels, counts: [...footer.counts] }), bytes => {
      const { levels, counts } = decodeCounts(bytes, new Float64Array([2, 1]), 'index');
      const sums = counts.map(ofStream =>
        ofStream.flatMap(({ entries }) => entries).reduce((a, b) => a + b, 0),
      );
      expect(sums).toEqual([2, 1]);
      for (const { level, minutes } of counts.flat()) {
        expect(level).toBeLessThan(levels.length);
        expect(minutes.every(minute => minute <= 1440)).toBe(true);
      }
    });
  });

  test('presence agrees with the chunk', async () => {
    const { footer } = await footerOfChunk(SAMPLE[0]);
    const out = new ByteWriter();
    writePresence(out, presenceOfFooter(footer), footer.first);
    const summary = { ...footer, pageBytes: 0, metadataNames: undefined };
    holds(out.finish(), bytes => {
      const range = { start: 0, end: bytes.length, streams: 2 };
      const presence = readPresence(bytes, range, summary, 2, 'index');
      expect([...presence.streams]).toEqual([0, 1]);
      expect(Math.max(...presence.last)).toBe(footer.last);
    });
  });

  test('the directory names blocks that make up the object', async () => {
    const object = await objectOf(SAMPLE);
    const { directoryBytes, headBytes } = readTrailer(object, object.length, 'index');
    const end = object.length - INDEX_TRAILER_BYTES;
    const start = new ByteReader(object, end - directoryBytes, end - 4);
    start.byte();
    const codec = start.byte();
    const rawBytes = start.varint();
    const stored = start.bytes(start.remaining);
    const block = { offset: 0, storedBytes: stored.length, rawBytes, codec, crc: crc32(stored) };
    // Stored unchanged, so that the damage has a valid checksum.
    holds(Buffer.from(loadBlock(stored, block, 'directory')), body => {
      const raw = new ByteWriter();
      raw.byte(1);
      raw.byte(0);
      raw.varint(body.length);
      raw.bytes(body);
      raw.u32(crc32(raw.view()));
      const grown = raw.length - directoryBytes;
      const sizes = { headBytes: headBytes + grown, objectBytes: object.length + grown };
      const { chunks } = decodeDirectory(raw.finish(), sizes, 'index');
      const counts = chunks.reduce((sum, chunk) => sum + chunk.counts.storedBytes, 0);
      expect(counts).toBe(object.length - headBytes);
    });
  });
});

describe('golden files', () => {
  const folder = join(process.cwd(), 'test/index/golden');
  test.each(['v1'])('%s reads as it was written', async version => {
    const want = JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8'));
    const source = bufferSource(readFileSync(join(folder, `${version}.index`)));
    const index = await readIndexHead(source, { tenant: 'golden', day: 20_412 });
    const chunks = [];
    for (const { id, level, first, last, rows, lineBytes, metadataBytes, pageBytes } of index.chunks) {
      const presence = index.presenceOf(id)!;
      const columns = Object.entries(presence).map(([name, column]) => [name, [...column]]);
      const counts = await index.counts(id);
      const summary = { id, level, first, last, rows, lineBytes, metadataBytes, pageBytes };
      chunks.push({ ...summary, presence: Object.fromEntries(columns), counts });
    }
    const { tenant, day, createdMs, streams } = index;
    expect({ tenant, day, createdMs, streams, chunks }).toEqual(want);
  });
});

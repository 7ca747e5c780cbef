import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { KnownLines } from '../../shared/execution/fields/synthesized-lines.ts';
import { minuteOf } from '../../shared/storage/chunk/counts.ts';
import {
  countsOf,
  type Footer,
  MAGIC,
  MAX_COUNTED_LEVELS,
  OTHER_LEVELS,
  PAGE_MAX_NAMES,
} from '../../shared/storage/chunk/format.ts';
import { decodePage, footerOf, type PageWants, wantedBytes } from '../../shared/storage/chunk/reader.ts';
import { withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { PUSH_COMPRESSION, QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { expectSameSaid } from '../fields/said.ts';
import { arbitraryEntries, entriesOfPage, type PlainEntry, rowsOf, streamOf } from '../support/rows.ts';
import {
  columnsOf,
  encodeResiduals,
  fieldsOfObject,
  mayHaveField,
  mayHaveMetadata,
  mayHold,
  summariesOfObject,
} from './indexed.ts';

const HEAD = {
  id: 'ab'.repeat(16),
  tenant: 't-1',
  day: 20_412,
  level: 0,
  createdMs: 1_700_000_000_000,
  inputs: ['cd'.repeat(16)],
};
const DAY_START = 20_412n * 86_400_000_000_000n;
const EVERYTHING: PageWants = { lines: 'bytes', metadata: 'all' };

async function objectOf(entries: readonly PlainEntry[]): Promise<Buffer> {
  const { parts, bytes } = await writeChunk(HEAD, rowsOf(entries), QUICK_COMPRESSION);
  return Buffer.concat(parts, bytes);
}

function read(object: Buffer): { footer: Footer; entries: PlainEntry[] } {
  const footer = footerOf(object, 'chunk');
  const entries = footer.pages.flatMap(page => {
    const stored = object.subarray(page.offset, page.offset + wantedBytes(page, EVERYTHING));
    return entriesOfPage(decodePage(footer, page, stored, EVERYTHING, 'chunk'), DAY_START);
  });
  return { footer, entries };
}

function inOrder(entries: readonly PlainEntry[]): PlainEntry[] {
  const text = (entry: PlainEntry) => streamOf(entry.stream).text;
  return entries
    .map((entry, i) => ({ entry, i }))
    .sort(
      (a, b) =>
        Buffer.compare(Buffer.from(text(a.entry)), Buffer.from(text(b.entry))) ||
        a.entry.time - b.entry.time ||
        a.i - b.i,
    )
    .map(({ entry }) => entry);
}

describe('a chunk', () => {
  test('returns every entry in order of stream and time', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), async entries => {
        const { footer, entries: back } = read(await objectOf(entries));
        expect(back).toEqual(inOrder(entries));
        expect(footer).toMatchObject({ ...HEAD, rows: entries.length });
        expect(footer.first).toBe(Math.min(...entries.map(entry => entry.time)));
        expect(footer.last).toBe(Math.max(...entries.map(entry => entry.time)));
      }),
      { numRuns: 60 },
    );
  });

  test('counts entries and bytes by stream, level and minute', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), async entries => {
        const { footer } = read(await objectOf(entries));
        const counted = new Map<string, [number, number, number]>();
        [...footer.counts].forEach((levels, s) => {
          for (const { level, minutes, entries: counts, lineBytes, metadataBytes } of levels) {
            minutes.forEach((minute, i) => {
              const key = `${footer.streams[s].text} ${footer.levels[level]} ${minute}`;
              expect(counted.has(key)).toBe(false);
              counted.set(key, [counts[i], lineBytes[i], metadataBytes[i]]);
            });
          }
        });
        const expected = new Map<string, [number, number, number]>();
        for (const { stream, time, line, metadata } of entries) {
          const key = `${streamOf(stream).text} ${metadata.detected_level ?? ''} ${minuteOf(time)}`;
          const sum = expected.get(key) ?? [0, 0, 0];
          const pairs = Object.entries(metadata).reduce(
            (n, [k, v]) => n + Buffer.byteLength(k) + Buffer.byteLength(v),
            0,
          );
          expected.set(key, [sum[0] + 1, sum[1] + Buffer.byteLength(line), sum[2] + pairs]);
        }
        expect(counted).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('reads only the columns that are wanted', async () => {
    const object = await objectOf([
      { stream: { app: 'a' }, time: 5, line: 'one', metadata: { trace: 'x', other: 'y' } },
      { stream: { app: 'a' }, time: 7, line: 'three', metadata: { trace: 'z' } },
    ]);
    const footer = footerOf(object, 'chunk');
    const [page] = footer.pages;
    const decode = (wants: PageWants) =>
      decodePage(
        footer,
        page,
        object.subarray(page.offset, page.offset + wantedBytes(page, wants)),
        wants,
        'chunk',
      );
    const none = decode({ lines: 'none', metadata: new Set() });
    expect([...none.times]).toEqual([0, 2]);
    expect(none).toMatchObject({ metadata: [], baseNs: DAY_START + 5n });
    expect(none.lines.length).toBe(0);
    expect([...none.lineOffsets]).toEqual([0, 0, 0]);
    const lengths = decode({ lines: 'lengths', metadata: new Set(['trace']) });
    expect([...lengths.lineOffsets]).toEqual([0, 3, 8]);
    expect(lengths.lines.length).toBe(0);
    expect(lengths.metadata.map(column => column.name)).toEqual(['trace']);
    expect(wantedBytes(page, { lines: 'none', metadata: new Set() })).toBeLessThan(
      wantedBytes(page, EVERYTHING),
    );
  });

  test('cuts pages by bytes at the end of a stream, by rows and by metadata names', async () => {
    const entry = (app: string, time: number, line: string, metadata = {}) => ({
      stream: { app },
      time,
      line,
      metadata,
    });
    const large = 'x'.repeat(200 * 1024);
    const pagesOf = async (ofA: number, ofB: number) => {
      const lines = (app: string, count: number) =>
        Array.from({ length: count }, (_, i) => entry(app, i, large));
      const object = await objectOf([...lines('a', ofA), ...lines('b', ofB)]);
      return read(object).footer.pages.map(page => page.rows);
    };
    expect(await pagesOf(4, 6)).toEqual([4, 5, 1]);
    expect(await pagesOf(3, 5)).toEqual([5, 3]);
    const byNames = Array.from({ length: 10 }, (_, i) =>
      entry('a', i, '', Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`n${i}_${n}`, 'v']))),
    );
    const named = read(await objectOf(byNames));
    expect(named.entries).toEqual(byNames);
    for (const page of named.footer.pages) expect(page.columns.length).toBeLessThan(PAGE_MAX_NAMES + 8);
    const byRows = Array.from({ length: 70_000 }, (_, i) => entry('a', i, ''));
    expect(read(await objectOf(byRows)).footer.pages.map(page => page.rows)).toEqual([65_536, 4464]);
  });

  test('counts levels past the bound together', async () => {
    const entries = Array.from({ length: MAX_COUNTED_LEVELS + 5 }, (_, i) => ({
      stream: { app: 'a' },
      time: i,
      line: 'x',
      metadata: { detected_level: `l${i}` },
    }));
    const { footer } = read(await objectOf(entries));
    expect(footer.levels).toHaveLength(MAX_COUNTED_LEVELS + 2);
    const other = countsOf(footer, 0).find(counts => footer.levels[counts.level] === OTHER_LEVELS)!;
    expect(other.entries.reduce((a, b) => a + b, 0)).toBe(5);
  });

  test('is refused if rows are out of order', async () => {
    const rows = rowsOf([
      { stream: { app: 'a' }, time: 5, line: 'x', metadata: {} },
      { stream: { app: 'a' }, time: 7, line: 'y', metadata: {} },
    ]);
    rows.times[0] = 9;
    await expect(writeChunk(HEAD, rows, PUSH_COMPRESSION)).rejects.toThrow(
      /invariant broken: rows of a batch ascend/,
    );
  });
});

describe('a damaged chunk', () => {
  test('is a corruption or reads as it was, never as something else', async () => {
    const entries: PlainEntry[] = [
      { stream: { app: 'a' }, time: 5, line: 'first line', metadata: { trace: 'x' } },
      { stream: { app: 'a' }, time: 70, line: 'second line '.repeat(20), metadata: {} },
      { stream: { app: 'b' }, time: 6, line: 'third', metadata: { trace: 'y', detected_level: 'warn' } },
    ];
    const object = await objectOf(entries);
    const want = inOrder(entries);
    for (let at = 0; at < object.length; at++) {
      for (const bit of [1, 0x80]) {
        const damaged = Buffer.from(object);
        damaged[at] ^= bit;
        let back: PlainEntry[] | undefined;
        try {
          back = read(damaged).entries;
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError);
        }
        if (back !== undefined) expect(back).toEqual(want);
      }
    }
  });

  test('cut at any place is a corruption', async () => {
    const object = await objectOf([{ stream: { app: 'a' }, time: 5, line: 'x'.repeat(100), metadata: {} }]);
    for (let length = 0; length < object.length; length++) {
      expect(() => read(object.subarray(0, length))).toThrow(CorruptionError);
    }
    expect(() => read(Buffer.concat([Buffer.alloc(20), MAGIC]))).toThrow(CorruptionError);
  });
});

/** Returns a footer with its counts and columns decoded. */
function plain(footer: Footer) {
  return { ...footer, pages: footer.pages.map(withDecodedColumns), counts: [...footer.counts] };
}

describe('golden files', () => {
  const folder = join(process.cwd(), 'test/chunk/golden');
  test.each(['v1', 'v2'])('%s reads as it was written', version => {
    const object = readFileSync(join(folder, `${version}.chunk`));
    // The files have an earlier name of `block`.
    const text = readFileSync(join(folder, `${version}.json`), 'utf8').replaceAll('"place":', '"block":');
    const want = JSON.parse(text);
    const { footer, entries } = read(object);
    // Chunks written before origins were recorded are ordered by their IDs.
    expect({ ...plain(footer), entries }).toEqual({ ...want, origin: want.id });
  });

  test.each([3, 4, 5, 6, 7])(
    'v%i reads as it was written, with fields that are columns of the split lines',
    version => {
      const object = readFileSync(join(folder, `v${version}.chunk`));
      const { fields, ...want } = JSON.parse(readFileSync(join(folder, `v${version}.json`), 'utf8'));
      const { footer, entries } = read(object);
      expect(footer.version).toBe(version);
      expect({ ...plain(footer), entries }).toEqual(want);
      expect(fieldsOfObject(object, footer)).toEqual(fields);
    },
  );

  test.each(['v1-enriched', 'v2-enriched', 'v3-enriched', 'v5-enriched'])(
    'field columns and the text filter too: %s',
    name => {
      const object = readFileSync(join(folder, `${name}.chunk`));
      const want = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
      const footer = footerOf(object, 'golden');
      const needles = Object.keys(want.filter);
      const filter = Object.fromEntries(needles.map(needle => [needle, mayHold(object, footer, needle)]));
      expect({ filter, columns: columnsOf(object, footer) }).toEqual({
        filter: want.filter,
        columns: want.columns,
      });
    },
  );

  test('residual fields rebuild the lines', () => {
    const object = readFileSync(join(folder, 'v3-enriched.chunk'));
    const want = JSON.parse(readFileSync(join(folder, 'v3-enriched.json'), 'utf8'));
    const footer = footerOf(object, 'golden');
    expect(encodeResiduals(object, footer)).toEqual(want.rests);
    const wants = { ...EVERYTHING, fieldColumns: { parser: 'either', names: 'all' } } as const;
    for (const page of footer.pages) {
      const rows = decodePage(footer, page, object.subarray(page.offset), wants, 'golden');
      const known = new KnownLines(rows.fieldColumns!.known!);
      // All but the one that is broken.
      expect(expectSameSaid(rows, known, { status: 'of the stream' }, page.base)).toBe(239);
    }
  });

  test('the filter finds values, and pages have summaries', () => {
    const object = readFileSync(join(folder, 'v2-enriched.chunk'));
    const want = JSON.parse(readFileSync(join(folder, 'v2-enriched.json'), 'utf8'));
    const footer = footerOf(object, 'golden');
    const { requests, statuses, summaries } = want as {
      requests: Record<string, number[]>;
      statuses: Record<string, number[]>;
      summaries: unknown;
    };
    for (const [value, pages] of Object.entries(requests)) {
      expect(mayHaveMetadata(object, footer, 'request', value)).toEqual(pages);
    }
    for (const [value, pages] of Object.entries(statuses)) {
      expect(mayHaveField(object, footer, 'status', value)).toEqual(pages);
    }
    expect(summariesOfObject(object, footer)).toEqual(summaries);
  });
});

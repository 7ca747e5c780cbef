/** Patterns in chunks as they are written: runs, levels and times of the rows, and what a chunk with copied pages takes along. */
import { describe, expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { ChunkAssembler, type ChunkHead } from '../../shared/storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../shared/storage/chunk/chunk-indexer.ts';
import { ColumnKind } from '../../shared/storage/chunk/format.ts';
import type { WrittenChunk } from '../../shared/storage/chunk/writer.ts';
import {
  COMPACTION_COMPRESSION,
  type Compression,
  QUICK_COMPRESSION,
} from '../../shared/storage/codec/compression.ts';
import { LEVELS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { withPatterns } from '../../shared/upkeep/pattern-mining/pattern-indexer.ts';
import { type PatternSection, readCounts } from '../../shared/upkeep/pattern-mining/section-codec.ts';
import { readPatterns } from '../../shared/upkeep/pattern-mining/stored-patterns.ts';
import { patternOf } from '../../shared/upkeep/pattern-mining/template.ts';
import { rowsOf } from '../support/rows.ts';

const nothing = (): ChunkIndexer => ({ page: () => [], finish: () => [], copied: () => undefined });
const head = (n: number): ChunkHead => ({
  id: `${n}`.padStart(32, '0'),
  tenant: 't',
  day: 20_000,
  level: 1,
  createdMs: 1,
  inputs: [],
});
const FILLING = 'z'.repeat(1500);
/** Each stream of the chunks here has at least half of it, so that its page ends with it. */
const PAGE_BYTES = 512 * 1024;
/** Each stream fills a page: 200 lines, a second apart, of two levels. */
const rows = rowsOf(
  ['apple', 'secret', 'cherry'].flatMap(word =>
    Array.from({ length: 200 }, (_, i) => ({
      stream: { app: word },
      time: (i + 1) * 1e9,
      line: `${word} ${i} ${word} ripe ${FILLING}`,
      metadata: { trace: `${i}`, ...(i % 2 === 0 ? { detected_level: i % 4 === 0 ? 'info' : 'odd' } : {}) },
    })),
  ),
);

async function patternsOf(chunk: WrittenChunk) {
  const store = memoryObjectStore();
  const section = await readPatterns(store, await storeChunk(store, chunk, 0), chunk.footer);
  if (section === undefined) return undefined;
  const counts: Record<string, number> = {};
  for (const [page, part] of section.pages.entries()) {
    const all = () => true;
    readCounts(part, all, (template, level, second, lines) => {
      const key = `${page} ${LEVELS[level]} ${patternOf(section.templates[template]).replace(FILLING, '')}`;
      counts[key] = (counts[key] ?? 0) + lines;
      expect(second).toBeLessThanOrEqual(200);
    });
  }
  return { section, counts };
}

async function written(): Promise<WrittenChunk> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, withPatterns(nothing()), PAGE_BYTES);
  await assembler.add(rows, { last: true });
  return assembler.finish(head(1));
}

/** A chunk that copies some pages of another one. */
async function copyOf(
  { parts, footer }: WrittenChunk,
  section: PatternSection,
  indexes: readonly number[],
): Promise<WrittenChunk> {
  const copying = new ChunkAssembler(QUICK_COMPRESSION, withPatterns(nothing(), [section]));
  const stored = Buffer.concat(parts);
  for (const index of indexes) {
    const page = footer.pages[index];
    const bytes = stored.subarray(page.offset, page.offset + page.storedBytes);
    const copy = { source: 0, index, lineBytes: page.lineBytes };
    await copying.copy({ page, streams: footer.streams, stored: bytes, copy });
  }
  return copying.finish(head(2));
}

test('a chunk has the patterns of its pages, and another one those of the pages that it copies', async () => {
  const chunk = await written();
  const { pages } = chunk.footer;
  expect(pages).toHaveLength(3);
  const source = (await patternsOf(chunk))!;
  const ofPage = (page: number, word: string) => ({
    [`${page} info ${word} <_> ${word} ripe `]: 50,
    [`${page} unknown ${word} <_> ${word} ripe `]: 150,
  });
  expect(source.counts).toEqual({ ...ofPage(0, 'apple'), ...ofPage(1, 'cherry'), ...ofPage(2, 'secret') });

  const copied = await patternsOf(await copyOf(chunk, source.section, [0, 1]));
  expect(copied!.counts).toEqual({ ...ofPage(0, 'apple'), ...ofPage(1, 'cherry') });
  expect(copied!.section.templates.join()).not.toMatch('secret');
});

describe('split pages', () => {
  /** A page of messages, one of other text, and one that is too small to split. */
  const mixed = rowsOf([
    ...Array.from({ length: 5000 }, (_, i) => ({
      stream: { app: 'a' },
      time: (i + 1) * 1e9,
      line: `{"ts":"${i}","msg":"user ${i % 7} ${i % 3 === 0 ? 'came' : 'left'} from 10.0.0.${i % 5}","trace":"${i * 977}"}`,
      metadata: { detected_level: i % 10 === 0 ? 'error' : 'info' },
    })),
    ...Array.from({ length: 18_000 }, (_, i) => ({
      stream: { app: 'b' },
      time: (i + 1) * 1e9,
      line:
        i % 2 === 0
          ? `GET /a/${i} took ${i % 90} ms`
          : i % 3 === 0
            ? ''
            : `ts=${i} msg="job ${i} done" x=${i % 4}`,
      metadata: {},
    })),
    ...Array.from({ length: 50 }, (_, i) => ({
      stream: { app: 'c' },
      time: (i + 1) * 1e9,
      line: `{"msg":"few ${i}"}`,
      metadata: {},
    })),
  ]);

  async function patternsWith(compression: Compression) {
    const assembler = new ChunkAssembler(compression, withPatterns(nothing()), PAGE_BYTES);
    await assembler.add(mixed, { last: true });
    const chunk = await assembler.finish(head(3));
    const store = memoryObjectStore();
    const section = await readPatterns(store, await storeChunk(store, chunk, 0), chunk.footer);
    return { chunk, section: section! };
  }

  test('have the patterns and counts of plain ones, and every line counts', async () => {
    const split = await patternsWith(COMPACTION_COMPRESSION);
    const kinds = split.chunk.footer.pages.map(({ columns }) => columns.at(-1)!.kind);
    expect(new Set(kinds)).toEqual(new Set([ColumnKind.splitLines, ColumnKind.lines]));
    const plain = await patternsWith(QUICK_COMPRESSION);
    expect(split.section).toEqual(plain.section);
    const empty = 3000;
    expect(linesOf(split.section)).toBe(mixed.rows - empty);
  });

  test('are copied with their patterns', async () => {
    const { chunk, section } = await patternsWith(COMPACTION_COMPRESSION);
    const copied = await copyOf(chunk, section, [0, 2]);
    const store = memoryObjectStore();
    const found = await readPatterns(store, await storeChunk(store, copied, 0), copied.footer);
    expect(linesOf(found!)).toBe(chunk.footer.pages[0].rows + chunk.footer.pages[2].rows);
  });
});

/** Number of lines that the patterns count. */
function linesOf({ pages }: PatternSection): number {
  let counted = 0;
  for (const part of pages) {
    readCounts(
      part,
      () => true,
      (_, __, ___, lines) => {
        counted += lines;
      },
    );
  }
  return counted;
}

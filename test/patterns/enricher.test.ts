/** Patterns in chunks as they are written: runs, levels and times of the rows, and what a patched chunk takes along. */
import { expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { ChunkAssembler, type ChunkHead } from '../../shared/storage/chunk/chunk-assembler.ts';
import type { PatchIndexer } from '../../shared/storage/chunk/chunk-indexer.ts';
import { ChunkPatcher } from '../../shared/storage/chunk/chunk-patcher.ts';
import type { WrittenChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { LEVELS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { withPatchedPatterns, withPatterns } from '../../shared/upkeep/pattern-mining/pattern-indexer.ts';
import { readCounts } from '../../shared/upkeep/pattern-mining/section-codec.ts';
import { readPatterns } from '../../shared/upkeep/pattern-mining/stored-patterns.ts';
import { patternOf } from '../../shared/upkeep/pattern-mining/template.ts';
import { rowsOf } from '../support/rows.ts';

const nothing = (): PatchIndexer => ({ page: () => [], finish: () => [], copied: () => undefined });
const head = (n: number): ChunkHead => ({
  id: `${n}`.padStart(32, '0'),
  tenant: 't',
  day: 20_000,
  level: 1,
  createdMs: 1,
  inputs: [],
});
const FILLING = 'z'.repeat(1500);
const PAGE_BYTES = 1 << 20;
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
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, withPatterns(nothing()));
  await assembler.add(rows, { last: true });
  return assembler.finish(head(1));
}

test('a chunk has the patterns of its pages, and a patched one those of the pages that it copies', async () => {
  const chunk = await written();
  const { pages, levels, counts } = chunk.footer;
  expect(pages).toHaveLength(3);
  const source = (await patternsOf(chunk))!;
  const ofPage = (page: number, word: string) => ({
    [`${page} info ${word} <_> ${word} ripe `]: 50,
    [`${page} unknown ${word} <_> ${word} ripe `]: 150,
  });
  expect(source.counts).toEqual({ ...ofPage(0, 'apple'), ...ofPage(1, 'cherry'), ...ofPage(2, 'secret') });

  for (const section of [source.section, undefined]) {
    const enricher = withPatchedPatterns(nothing(), section);
    const parts = { source: chunk.footer, compression: QUICK_COMPRESSION, enricher, pageBytes: PAGE_BYTES };
    const patcher = new ChunkPatcher(parts);
    const stored = Buffer.concat(chunk.parts);
    for (const place of [0, 1]) {
      const { offset, storedBytes } = pages[place];
      await patcher.copy(place, stored.subarray(offset, offset + storedBytes));
    }
    const patched = await patternsOf(await patcher.finish(head(2), { levels, counts: [...counts] }));
    if (section === undefined) expect(patched).toBeUndefined();
    else {
      expect(patched!.counts).toEqual({ ...ofPage(0, 'apple'), ...ofPage(1, 'cherry') });
      expect(patched!.section.templates.join()).not.toMatch('secret');
    }
  }
});

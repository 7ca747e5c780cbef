/** Chunks with pages in any order, merged again: entries stay, and those with equal timestamps stay in their order. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PageRows } from '../../shared/base/model/page.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { FORMAT_VERSION, type Footer, OTHER_LEVELS } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { MergeTooLargeError, openPagesBytes } from '../../shared/upkeep/compaction/merge-bounds.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { Dice } from '../simulation/dice.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import {
  chunkId,
  copyableInputsOf,
  DAY,
  DAY_START,
  inOrder,
  inputOf,
  merge,
} from './support/merge-chunks.ts';

/** Some entries have this size, so a page has those of a few streams. */
const PAGE_BYTES = 120;
const APPS = ['a', 'b', 'c', 'd'];

interface Slice {
  readonly seed: number;
  /** Seconds from the start of the slice before to that of this one: 0 if it is late. */
  readonly step: number;
  /** Its number of seconds. */
  readonly span: number;
  readonly entries: number;
}

const arbitrarySlice: fc.Arbitrary<Slice> = fc.record({
  seed: fc.nat(),
  step: fc.constantFrom(0, 5, 5, 5, 6, 6, 6),
  span: fc.constantFrom(1, 6, 6, 6, 6, 20),
  entries: fc.integer({ min: 1, max: 90 }),
});

/** Merges have more levels than they count by name. */
function entriesOf({ seed, span, entries }: Slice, from: number): PlainEntry[] {
  const dice = new Dice(seed);
  return Array.from({ length: entries }, (): PlainEntry => {
    const n = dice.below(60);
    const metadata = { detected_level: dice.chance(0.1) ? `level-${n}` : 'info' };
    const time = (from + dice.below(span)) * 1e9;
    return { stream: { app: dice.pick(APPS) }, time, line: `${'x'.repeat(n % 10)} ${n}`, metadata };
  });
}

async function chunkOf(entries: readonly PlainEntry[], id: string): Promise<Buffer> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, chunkIndexers(0)(), PAGE_BYTES);
  await assembler.add(rowsOf(entries));
  const head = { id, tenant: 't-1', day: DAY, level: 2, createdMs: 1, inputs: [] };
  const { parts } = await assembler.finish(head);
  return Buffer.concat(parts);
}

/** 1 for each row of the page that is deleted. Undefined if none is. */
function marksOf(page: PageRows, goes: (entry: PlainEntry) => boolean): Uint8Array | undefined {
  const marks = Uint8Array.from(entriesOfPage(page, DAY_START), entry => +goes(entry));
  return marks.includes(1) ? marks : undefined;
}

/** Entries and bytes by stream and minute, and by level if it counts. */
function countsOf({ streams, levels, counts }: Footer, hasLevels: boolean) {
  const sums: Record<string, number[]> = {};
  for (const [s, ofStream] of [...counts].entries()) {
    for (const { level, minutes, entries, lineBytes, metadataBytes } of ofStream) {
      for (const [i, minute] of minutes.entries()) {
        const key = [streams[s].text, minute, hasLevels ? levels[level] : ''].join(' ');
        const known = sums[key] ?? [0, 0, 0];
        sums[key] = [known[0] + entries[i], known[1] + lineBytes[i], known[2] + metadataBytes[i]];
      }
    }
  }
  return sums;
}

test('merges of merges keep entries and their order, for any slices, deletes and parts', async () => {
  let unsorted = 0;
  let copied = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitrarySlice, { minLength: 2, maxLength: 7 }),
      fc.array(
        fc.record({
          size: fc.integer({ min: 2, max: 4 }),
          // Often none.
          deleted: fc.nat(9),
          streamBits: fc.constantFrom(0, 0, 1, 2),
          isTight: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      async (slices, rounds) => {
        let made = 0;
        let arrived: PlainEntry[] = [];
        let objects: Buffer[] = [];
        let from = 0;
        for (const slice of slices) {
          from += slice.step;
          const entries = inOrder(entriesOf(slice, from));
          arrived.push(...entries);
          objects.push(await chunkOf(entries, chunkId(++made)));
        }
        for (const { size, deleted, streamBits, isTight } of rounds) {
          const goes = ({ line }: PlainEntry) => deleted < 6 && line.endsWith(`${deleted}`);
          arrived = arrived.filter(entry => !goes(entry));
          const outputs: Buffer[] = [];
          for (let i = 0; i < objects.length; i += size) {
            const { inputs, indexer } = await copyableInputsOf(objects.slice(i, i + size));
            const merged = await merge(inputs, {
              level: 2,
              pageBytes: PAGE_BYTES,
              batchBytes: 2 * PAGE_BYTES,
              streamBits,
              indexer,
              newId: () => chunkId(++made),
              dropRows: page => marksOf(page, goes),
              // Of a few pages, so that pages with the same streams are opened one after the other.
              ...(inputs.length === 2 && isTight ? { maxOpenBytes: 6000 } : {}),
            });
            copied += merged.summary.copied.pages;
            if (merged.footers.some(({ version }) => version === FORMAT_VERSION)) unsorted++;
            outputs.push(...merged.objects);
          }
          objects = outputs;
        }
        const { inputs, indexer } = await copyableInputsOf(objects);
        const { entries, footers } = await merge(inputs, { level: 2, pageBytes: PAGE_BYTES, indexer });
        const expected = inOrder(arrived);
        expect(entries).toEqual(expected);
        if (expected.length === 0) return;
        const encoded = footerOf(await chunkOf(expected, chunkId(++made)), 'a chunk');
        const hasLevels = [...footers, encoded].every(({ levels }) => !levels.includes(OTHER_LEVELS));
        expect(countsOf(footers[0], hasLevels)).toEqual(countsOf(encoded, hasLevels));
      },
    ),
    { numRuns: 80 },
  );
  expect(copied).toBeGreaterThan(0);
  expect(unsorted).toBeGreaterThan(0);
});

test('pages with the same streams, which are not copied again, need one open page', async () => {
  const slices = Array.from({ length: 12 }, (_, i) =>
    APPS.flatMap(app =>
      Array.from({ length: 5 }, (_, n): PlainEntry => {
        const second = 5 * i + n;
        return { stream: { app }, time: second * 1e9, line: `line ${second}`, metadata: {} };
      }),
    ),
  );
  const objects = await Promise.all(slices.map((entries, i) => chunkOf(entries, chunkId(i + 1))));
  const { inputs, indexer } = await copyableInputsOf(objects);
  const options = { level: 2, pageBytes: PAGE_BYTES, newId: () => chunkId(99) };
  const {
    objects: [copied],
    summary,
  } = await merge(inputs, { ...options, indexer });
  expect(summary.copied.pages).toBeGreaterThan(20);
  const input = inputOf(copied);
  expect(input.footer.pages.filter(({ runs }) => runs.length > 1).length).toBeGreaterThan(10);
  const again = { ...options, newId: () => chunkId(100) };
  const largest = Math.max(
    ...input.footer.pages.map((_, page) => openPagesBytes([input], [{ strands: [[{ page }]] }])),
  );
  const whole = await merge([input], again);
  const { entries, footers } = await merge([input], { ...again, maxOpenBytes: largest });
  expect(entries).toEqual(inOrder(slices.flat()));
  expect(footers).toEqual(whole.footers);
  await expect(merge([input], { ...again, maxOpenBytes: largest - 1 })).rejects.toThrow(MergeTooLargeError);
});

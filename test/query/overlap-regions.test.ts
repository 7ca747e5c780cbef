/** Time ranges that several chunks of a stream cover, compared with a model that checks every instant. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PlannedPage } from '../../shared/read/query/day-plan.ts';
import { type Region, regionsOf } from '../../shared/read/query/overlap-regions.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { ColumnKind, type Footer, type PageMeta, type RunMeta } from '../../shared/storage/chunk/format.ts';

const TIMES = 30;
const STREAMS = ['a', 'b', 'c'];

/** A chunk: for each of its pages the runs, at most one of a stream, and whether it may have an entry twice. */
const arbitraryChunk = fc.array(
  fc.record({
    repeats: fc.nat({ max: 3 }).map(one => one === 0),
    runs: fc.uniqueArray(
      fc.record({
        stream: fc.nat({ max: STREAMS.length - 1 }),
        first: fc.nat({ max: TIMES - 1 }),
        length: fc.nat({ max: 3 }),
      }),
      { selector: ({ stream }) => stream, minLength: 1 },
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

interface PlainPage {
  readonly repeats: boolean;
  readonly runs: readonly { stream: number; first: number; length: number }[];
}

/** The footer of a page that may have an entry twice lists an empty value of metadata. */
const EMPTY_VALUE = { kind: ColumnKind.metadata, name: 'x', dictionary: ['1', ''] };

function planOf(chunks: readonly (readonly PlainPage[])[]) {
  return chunks.flatMap((chunk, c) => {
    const record = { id: `${c}` } as ChunkRecord;
    // Each chunk has separate stream objects.
    const footer = { streams: STREAMS.map(text => ({ text, labels: [] })) } as unknown as Footer;
    return chunk.map(({ repeats, runs }): PlannedPage => {
      const planned = runs.map(
        ({ stream, first, length }) => ({ stream, first, last: first + length }) as RunMeta,
      );
      const page = { runs: planned, columns: repeats ? [EMPTY_VALUE] : [] } as unknown as PageMeta;
      return {
        record,
        footer,
        page,
        deleteFilters: undefined,
        deleteFilter: undefined,
        runs: planned,
        first: 0,
        last: TIMES,
      };
    });
  });
}

interface Extent {
  readonly first: number;
  readonly last: number;
}

const isTwice = ({ page }: Region['runs'][number]) => page.page.columns.length > 0;
const meet = (a: Extent, b: Extent) => a.first <= b.last && b.first <= a.last;

test('overlap regions are the ranges that two chunks cover, or one that may contain duplicates, with their runs', () => {
  fc.assert(
    fc.property(fc.array(arbitraryChunk, { maxLength: 6 }), chunks => {
      const pages = planOf(chunks);
      const regions = regionsOf({ pages });
      for (const [s, stream] of STREAMS.entries()) {
        const runs = pages.flatMap(page =>
          page.runs.filter(run => run.stream === s).map(run => ({ page, run })),
        );
        const ofStream = regions.filter(region => region.stream === stream);
        const isShared = runs.some(
          a => isTwice(a) || runs.some(b => a.page.record !== b.page.record && meet(a.run, b.run)),
        );
        expect(ofStream.length > 0).toBe(isShared);
        if (isShared) expectRegions(ofStream, runs);
      }
      for (const { resolved } of regions) expect(resolved).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

function expectRegions(regions: readonly Region[], runs: Region['runs']): void {
  const extents = [...Map.groupBy(runs, ({ page }) => page.record).values()].map(ofChunk => ({
    first: Math.min(...ofChunk.map(({ run }) => run.first)),
    last: Math.max(...ofChunk.map(({ run }) => run.last)),
    chunks: ofChunk.some(isTwice) ? 2 : 1,
  }));
  for (let time = 0; time < TIMES + 5; time++) {
    const covering = extents
      .filter(({ first, last }) => first <= time && time <= last)
      .reduce((sum, { chunks }) => sum + chunks, 0);
    const inside = regions.filter(({ from, to }) => from <= time && time <= to).length;
    expect(inside).toBe(covering >= 2 ? 1 : 0);
  }
  for (const { from, to, runs: found } of regions) {
    const met = runs.filter(({ run }) => meet(run, { first: from, last: to }));
    expect(found).toEqual(met);
  }
}

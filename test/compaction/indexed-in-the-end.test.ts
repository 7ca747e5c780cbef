/** Merges that are merged again soon are drafts; what a flush leaves, and a day that is over, has all that queries use. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import { ColumnKind, SectionKind } from '../../shared/storage/chunk/format.ts';
import { MAX_INPUTS, SETTLE_MS } from '../../shared/upkeep/compaction/plan-merges.ts';
import { DAY, makeWorld, TENANT, type World } from '../deletion/jobs/world.ts';
import { identityOf } from '../support/pushes.ts';

const MERGE_SIZES = {
  pageBytes: 4000,
  indexedFromBytes: 3000,
  finalFromBytes: 60_000,
  awaitedBytes: 60_000,
  copiedFromBytes: 9000,
  windowBytesOfPart: Number.POSITIVE_INFINITY,
  mergeBytesOfPart: Number.POSITIVE_INFINITY,
};
/** Lines of one push. */
const LINES = 40;

function push(number: number, minute: number, lines = LINES) {
  return Array.from({ length: lines }, (_, i) => ({
    stream: { app: `a-${number % 3}` },
    day: DAY,
    time: minute * 60e9 + number * 1000 + i,
    line: `{"level":"info","n":${number},"i":${i}}`,
    metadata: {},
  }));
}

/** Contents of each chunk, largest first. */
async function chunksOf({ plain, rawStore }: World) {
  const day = await plain.catalog.day(TENANT, DAY);
  const chunks = (day?.records ?? []).map(async record => {
    const { sections, pages } = await readFooter(rawStore, record);
    const columns = pages.flatMap(page => page.columns);
    return {
      lineBytes: record.lineBytes,
      level: record.level,
      hasSections: [SectionKind.filter, SectionKind.summaries].every(kind =>
        sections.some(s => s.kind === kind),
      ),
      hasColumns: columns.some(({ kind }) => kind === ColumnKind.field),
    };
  });
  return (await Promise.all(chunks)).sort((a, b) => b.lineBytes - a.lineBytes);
}

async function expectIndexed(world: World): Promise<void> {
  for (const { lineBytes, hasSections, level } of await chunksOf(world)) {
    const isLarge = lineBytes >= MERGE_SIZES.indexedFromBytes;
    expect({ lineBytes, hasSections, isFinal: level > 1 }).toEqual({
      lineBytes,
      hasSections: isLarge,
      isFinal: isLarge || level > 1,
    });
  }
}

describe('after a flush, and when its day is over, every chunk that is large enough is indexed', () => {
  test('indexes chunks of any pushes, after any merges', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(1439), fc.integer({ min: 1, max: 200 })), { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        fc.constantFrom(5000, 1_000_000),
        async (pushes, force, targetBytes) => {
          const world = makeWorld({ mergeSizes: MERGE_SIZES, targetBytes });
          const lists = pushes.map(([minute, lines], i) => push(i, minute, lines));
          for (const entries of lists) await world.push(entries);
          await world.clock.advance(SETTLE_MS);
          await world.compact(DAY, force);
          await expectIndexed(world);
          expect(await world.stored()).toEqual(lists.flat().map(identityOf).sort());
        },
      ),
      { numRuns: 25 },
    );
  });

  test.each([
    ['forced', true, 2],
    ['not forced: full merges first', false, 11],
  ])('indexes more pushes than one merge takes; %s', async (_name, force, most) => {
    const world = makeWorld({ mergeSizes: MERGE_SIZES });
    for (let i = 0; i < MAX_INPUTS + 10; i++) await world.push(push(i, 7, 1));
    await world.clock.advance(SETTLE_MS);
    const { merges } = await world.compact(DAY, force);
    expect(merges).toBe(most);
    const [chunk, ...rest] = await chunksOf(world);
    expect(rest).toEqual([]);
    expect(chunk).toMatchObject({ level: 3, hasSections: true, hasColumns: true });
  });

  test('indexes the chunk of a single push', async () => {
    const world = makeWorld({ mergeSizes: MERGE_SIZES });
    await world.push(push(1, 7, 200));
    expect(await chunksOf(world)).toMatchObject([{ level: 0, hasSections: false }]);
    await world.clock.advance(SETTLE_MS);
    await world.compact(DAY);
    expect(await chunksOf(world)).toMatchObject([{ level: 3, hasSections: true, hasColumns: true }]);
    expect(await world.compact(DAY)).toMatchObject({ merges: 0, end: 'settled' });
  });
});

test('five minutes of little are a draft', async () => {
  const world = makeWorld({ mergeSizes: MERGE_SIZES });
  const today = DAY + 3;
  expect(world.clock.nowMs()).toBe(today * MS_PER_DAY);
  for (let i = 0; i < 40; i++) await world.push(push(i, 1).map(entry => ({ ...entry, day: today })));
  await world.clock.advance(SETTLE_MS);
  await world.compact(today);
  const records = (await world.plain.catalog.day(TENANT, today))!.records;
  const merged = records.find(({ level }) => level === 1)!;
  expect(merged.lineBytes).toBeGreaterThan(MERGE_SIZES.indexedFromBytes);
  const { sections, pages } = await readFooter(world.rawStore, merged);
  expect(sections).toEqual([]);
  expect(pages.flatMap(({ columns }) => columns).filter(({ kind }) => kind === ColumnKind.field)).toEqual([]);
});

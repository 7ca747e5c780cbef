/** Which chunks are merged when: rules by table, and what must hold of any day. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_MINUTE, NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { commonPart, partBits } from '../../shared/storage/catalog/stream-part.ts';
import { isUnfinished, MERGE_SIZES, type Quality } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { ChunkOrder } from '../../shared/upkeep/compaction/order-runs.ts';
import {
  DISTANT_MAX_INPUTS,
  FULL_CHUNKS,
  isSettled,
  MAX_INPUTS,
  type MergePlanOptions,
  nextClosingMs,
  type PlannedMerge,
  planMerges,
  SILENCE_MS,
} from '../../shared/upkeep/compaction/plan-merges.ts';
import { outputBits } from '../../shared/upkeep/compaction/window-parts.ts';

const DAY = 20_000;
const DAY_START_MS = DAY * 86_400_000;
const MIB = 1024 * 1024;
const TARGET = 128 * MIB;

let made = 0;
function chunk(storedBytes: number, minute: number, level = 0): ChunkRecord {
  const id = (++made).toString(16).padStart(32, '0');
  return {
    id,
    origin: id,
    tenant: 't',
    day: DAY,
    level,
    first: minute * NS_OF_MINUTE,
    last: minute * NS_OF_MINUTE + 1,
    rows: 1,
    lineBytes: 8 * storedBytes,
    metadataBytes: 0,
    asOfMs: 0,
    storedBytes,
    footerBytes: 10,
    pairs: undefined,
    inline: undefined,
    footer: undefined,
  };
}

/** The first one. */
const planMerge = (...args: Parameters<typeof planMerges>) => planMerges(...args).at(0);
const some = (count: number, storedBytes: number, minute: number, level = 0) =>
  Array.from({ length: count }, () => chunk(storedBytes, minute, level));
const at = (minute: number, force = false): MergePlanOptions => ({
  targetBytes: TARGET,
  nowMs: DAY_START_MS + minute * MS_PER_MINUTE,
  force,
});

/** Pushes that began the given number of ms before minute 2. */
const pushedAgo = (count: number, storedBytes: number, agoMs: number) =>
  some(count, storedBytes, 1).map(record => ({ ...record, id: idAt(at(2).nowMs - agoMs) }));
const asked = (minute: number): MergePlanOptions => ({ ...at(minute), onlyPushes: true });
const idAt = (ms: number) => ms.toString(16).padStart(12, '0') + (++made).toString(16).padStart(20, '0');

describe('choice of the next merge', () => {
  test.each<[string, ChunkRecord[], MergePlanOptions, { level: number; inputs: number } | undefined]>([
    ['nothing of nothing', [], at(10), undefined],
    ['one chunk is left alone', some(1, 1000, 1), at(2000), undefined],
    ['few chunks of an open window wait', some(31, 1000, 1), at(2), undefined],
    ['pushes of much wait until they fill a merge', pushedAgo(60, 20_000, 2000), at(2), undefined],
    ['if pushes ask, they are merged', pushedAgo(60, 20_000, 1000), asked(2), { level: 2, inputs: 60 }],
    ['once they settled', pushedAgo(60, 20_000, 999), asked(2), undefined],
    [
      'also if they only fill a page and no more came',
      pushedAgo(60, 3_000, SILENCE_MS),
      asked(2),
      { level: 2, inputs: 60 },
    ],
    ['while more come, a page waits', pushedAgo(60, 3_000, SILENCE_MS - 1), asked(2), undefined],
    ['pushes of less wait', pushedAgo(60, 1_000, SILENCE_MS), asked(2), undefined],
    ['one push of much is packed already', pushedAgo(1, MIB, 2000), asked(2), undefined],
    [
      'what is left of full merges is merged if it is much',
      [...pushedAgo(FULL_CHUNKS, 1000, 3000), ...pushedAgo(60, 20_000, 2000)],
      asked(2),
      { level: 1, inputs: FULL_CHUNKS },
    ],
    [
      'then they are merged, whatever is open',
      some(100, 20_000, 1),
      at(2),
      { level: 2, inputs: FULL_CHUNKS },
    ],
    ['those are left alone until the hour is over', some(40, MIB, 1, 2), at(60), undefined],
    ['then the hour takes them', some(40, MIB, 1, 2), at(71), { level: 2, inputs: 40 }],
    [
      'if pushes alone ask: no pile, and no closed window',
      [...some(40, 1000, 1), ...some(2, 1000, 1)],
      { ...at(30), onlyPushes: true },
      undefined,
    ],
    [
      'but what is full',
      [...some(2, 1000, 1), ...some(9, MIB, 20)],
      { ...at(30), onlyPushes: true },
      { level: 2, inputs: 8 },
    ],
    ['a pile in an open window', some(32, 1000, 1), at(2), { level: 1, inputs: 32 }],
    ['a large pile goes in parts', some(500, 1000, 1), at(2), { level: 1, inputs: FULL_CHUNKS }],
    ['different sizes make no pile', [...some(20, 1000, 1), ...some(20, 10 * MIB, 1, 1)], at(2), undefined],
    ['two chunks of a closed 5 minutes', some(2, 1000, 1), at(7), { level: 1, inputs: 2 }],
    ['but a minute for late ones', some(2, 1000, 1), at(5), undefined],
    [
      'a closed hour takes what its windows left',
      [...some(1, MIB, 3, 1), ...some(1, MIB, 33, 1)],
      at(75),
      { level: 2, inputs: 2 },
    ],
    [
      'a closed day takes its hours',
      [...some(1, MIB, 30, 2), ...some(1, MIB, 700, 2)],
      at(1501),
      { level: 3, inputs: 2 },
    ],
    [
      'a large chunk waits for company of a third of its size',
      [...some(1, 30 * MIB, 1, 1), ...some(2, MIB, 1)],
      at(1501),
      { level: 2, inputs: 2 },
    ],
    [
      'late pushes to a closed hour skip its closed 5 minutes',
      some(2, 1000, 1),
      { ...at(75), largestFirst: true },
      { level: 2, inputs: 2 },
    ],
    [
      'a smaller window takes what a large chunk between them keeps apart in the larger one',
      [chunk(1000, 1), chunk(30 * MIB, 300, 3), chunk(1000, 2)],
      { ...at(1501), largestFirst: true },
      { level: 1, inputs: 2 },
    ],
    [
      'the hours of a closed day are skipped, too',
      [...some(2, 1000, 1), ...some(2, 1000, 300)],
      { ...at(1501), largestFirst: true },
      { level: 3, inputs: 4 },
    ],
    [
      'and then joins',
      [...some(1, 30 * MIB, 1, 1), ...some(2, 5 * MIB, 1, 1)],
      at(1501),
      { level: 3, inputs: 3 },
    ],
    ['full chunks are done', some(5, 64 * MIB, 1, 2), at(3000), undefined],
    ['one is packed better, if nothing else', some(1, MIB, 1, 1), at(3000), { level: 3, inputs: 1 }],
    ['once', some(1, MIB, 1, 3), at(3000), undefined],
    ['in its day it waits for others', some(1, MIB, 1, 1), at(800), undefined],
    ['forced, it is packed now', some(1, MIB, 1), at(2, true), { level: 3, inputs: 1 }],
    ['no more than the target at once', some(10, 50 * MIB, 1), at(3000), { level: 2, inputs: 2 }],
    ['forced: whatever is there', [chunk(1000, 1), chunk(1000, 900)], at(2, true), { level: 3, inputs: 2 }],
    ['forced, of one chunk: nothing', [chunk(1000, 1)], at(2, true), undefined],
  ])('%s', (_name, records, options, want) => {
    const merge = planMerge(DAY, records, options);
    expect(merge && { level: merge.level, inputs: merge.inputs.length }).toEqual(want);
  });

  test('merges the newest window first', () => {
    const records = [...some(3, 1000, 1), ...some(3, 1000, 20)];
    expect(planMerge(DAY, records, at(60))?.inputs).toEqual(records.slice(3));
  });
});

test('more than one merge takes: no more than must be is merged twice', () => {
  const most = DISTANT_MAX_INPUTS;
  for (const count of [98, 130, 193, 194, 979]) {
    let records = some(count, 1000, 1);
    const options = { ...at(2, true), maxInputs: most };
    const sizes: number[] = [];
    for (let merge = planMerge(DAY, records, options); merge; merge = planMerge(DAY, records, options)) {
      const { inputs, level } = merge;
      sizes.push(inputs.length);
      records = records.filter(record => !inputs.includes(record));
      records.push(chunk(1000 * inputs.length, 1, level));
    }
    expect(records).toHaveLength(1);
    expect(sizes.slice(1)).toEqual(sizes.slice(1).map(() => most));
  }
});

test.each<[string, ChunkRecord[], number]>([
  ['small pushes: what a swap removes', some(2 * MAX_INPUTS, 1000, 1), MAX_INPUTS],
  ['large pushes: pages of 192 KiB', some(2 * MAX_INPUTS, 100_000, 1), 682],
  ['merged chunks: a page of 1 MiB for each syntax', some(2 * MAX_INPUTS, MIB, 1, 2), 42],
  ['pushes with an index as well', some(2 * MAX_INPUTS, MIB, 1), 128],
])('inputs of a merge: %s', (_name, records, most) => {
  const merges = planMerges(DAY, records, { ...at(2, true), targetBytes: 10_000 * MIB });
  expect(merges).toHaveLength(1);
  const [{ inputs }] = merges;
  expect(inputs.length).toBeLessThanOrEqual(most);
  // The first is smaller, so that all others are full with the output of the one before.
  expect((records.length - inputs.length) % (most - 1)).toBe(0);
});

describe('compression of merges', () => {
  test.each<[string, ChunkRecord[], MergePlanOptions, { level: number; quality: Quality }]>([
    ['5 minutes of little: a draft', some(2, 1000, 1), at(7), { level: 1, quality: 'draft' }],
    ['5 minutes of a page', some(2, 70_000, 1), at(7), { level: 2, quality: 'final' }],
    ['5 minutes of much', some(2, MIB, 1), at(7), { level: 2, quality: 'final' }],
    ['pushes that fill a merge by number', some(97, 20_000, 1), at(2), { level: 2, quality: 'final' }],
    ['by bytes', some(8, MIB, 1), at(2), { level: 2, quality: 'final' }],
    ['small ones that fill it', some(97, 5000, 1), at(2), { level: 2, quality: 'final' }],
    ['and do not fill a page', some(97, 1000, 1), at(2), { level: 1, quality: 'draft' }],
    ['a pile of little', some(32, 1000, 1), at(2), { level: 1, quality: 'draft' }],
    ['an hour', [chunk(1000, 3), chunk(1000, 33)], at(75), { level: 2, quality: 'final' }],
    ['flushed at once', some(MAX_INPUTS, 1000, 1), at(2, true), { level: 3, quality: 'final' }],
    ['what joins the next merge', some(2 * MAX_INPUTS, 1000, 1), at(2, true), { level: 1, quality: 'draft' }],
    [
      'too large to join it',
      some(2 * MAX_INPUTS - 1, 0.7 * MIB, 1),
      at(2, true),
      { level: 3, quality: 'final' },
    ],
    [
      'what has more than a draft already',
      [...some(99, 1000, 1), ...some(99, 1000, 1, 2)].reverse(),
      { ...at(2, true), maxInputs: DISTANT_MAX_INPUTS },
      { level: 1, quality: 'draft' },
    ],
    ['of such alone', some(198, 1000, 1, 2), at(2, true), { level: 3, quality: 'final' }],
  ])('%s', (_name, records, options, want) => {
    const { level, quality } = planMerge(DAY, records, options)!;
    expect({ level, quality }).toEqual(want);
  });
});

describe('parts of the streams', () => {
  const GIB = 1024 * MIB;
  const divided = (minute: number): MergePlanOptions => ({ ...at(minute), dividesStreams: true });
  /** Pushes of 8 MiB of lines. */
  const pushes = (gib: number, minute: number) => some((gib * GIB) / (8 * MIB), MIB, minute);
  const ofPart = (streamPart: number, records: readonly ChunkRecord[]) =>
    records.map(record => ({ ...record, streamPart }));
  const shapesOf = (merges: readonly PlannedMerge[]) => [
    ...new Set(merges.map(({ inputs, parts = 1 }) => `${inputs.length} pushes, ${parts} parts`)),
  ];

  test.each<[string, ChunkRecord[], MergePlanOptions, string[]]>([
    ['are not made by a process alone', pushes(40, 1), at(2), ['8 pushes, 1 parts']],
    ['are not made of less than 5 GiB in 5 minutes', pushes(4, 1), divided(2), ['8 pushes, 1 parts']],
    ['are two of 5 GiB', pushes(5, 1), divided(2), ['16 pushes, 2 parts']],
    ['are four of 10 GiB', pushes(10, 1), divided(2), ['32 pushes, 4 parts']],
    ['are eight at most', pushes(60, 1), divided(2), ['64 pushes, 8 parts']],
    [
      'are as many as in the 5 minutes before',
      [...some(100, 13 * MIB, 4, 2), ...pushes(1, 6)],
      divided(7),
      ['32 pushes, 4 parts'],
    ],
    [
      'are fewer if 97 pushes have less',
      [...some(1000, 60 * MIB, 1, 2), ...some(97, MIB / 8, 1)],
      divided(2),
      ['97 pushes, 2 parts'],
    ],
    [
      'are made of the rest of a closed window',
      [...some(1000, 60 * MIB, 1, 2), ...pushes(0.25, 1)],
      divided(7),
      ['32 pushes, 8 parts'],
    ],
    [
      'are not made of little',
      [...some(1000, 60 * MIB, 1, 2), ...some(5, MIB, 1)],
      divided(7),
      ['5 pushes, 1 parts'],
    ],
    [
      'wait for as many pushes, as long as the window is open',
      [...some(1000, 60 * MIB, 1, 2), ...pushes(0.25, 1)],
      divided(2),
      [],
    ],
    [
      'are not made of final chunks',
      [...some(100, 70 * MIB, 1, 2), ...some(40, MIB, 1, 2)],
      divided(75),
      ['40 pushes, 1 parts'],
    ],
    [
      'are made of less than their lines if the pushes fill a chunk as stored',
      some(2000, 7 * MIB, 1).map(record => ({ ...record, lineBytes: 8 * MIB })),
      divided(2),
      ['19 pushes, 4 parts'],
    ],
  ])('%s', (_name, records, options, want) => {
    expect(shapesOf(planMerges(DAY, records, options))).toEqual(want);
  });

  const partsOf = (merges: readonly PlannedMerge[]) =>
    merges.map(({ inputs }) => [...new Set(inputs.map(({ streamPart }) => streamPart))].sort());
  /** Chunks of one time, of the parts one after the other. */
  const alternating = (parts: readonly (number | undefined)[]) =>
    some(40, MIB, 1, 2).map((record, i) => ({ ...record, streamPart: parts[i % parts.length] }));

  test('are merged apart in the hour, in the day and in a flush', () => {
    const records = alternating([4, 5, 6, 7]);
    for (const options of [at(75), divided(75), at(1501), at(2, true)]) {
      const merges = planMerges(DAY, records, options);
      expect(partsOf(merges)).toEqual([[4], [5], [6], [7]]);
      expect(merges.map(({ inputs, parts }) => [inputs.length, parts])).toEqual(
        merges.map(() => [10, undefined]),
      );
    }
  });

  test('join the larger part that they are in, if not few chunks have larger ones', () => {
    expect(partsOf(planMerges(DAY, alternating([4, 10, 11, 3]), at(75)))).toEqual([[10, 11, 4], [3]]);
    expect(partsOf(planMerges(DAY, alternating([undefined, 4, 5, 3]), at(75)))).toEqual([
      [3, 4, 5, undefined],
    ]);
    const few = [...alternating([4, 5, 6, 7]), ...ofPart(2, some(2, MIB, 1, 2)), ...some(2, MIB, 1, 2)];
    expect(partsOf(planMerges(DAY, few, at(75)))).toEqual([[2, undefined], [4], [5], [6], [7]]);
  });

  test('of which nothing else is left are merged together at the end of the day', () => {
    const records = [4, 5, 6, 7].flatMap(part => ofPart(part, some(1, MIB, 1, 2)));
    expect(planMerges(DAY, records, at(75))).toEqual([]);
    expect(partsOf(planMerges(DAY, records, at(1501)))).toEqual([[4, 5, 6, 7]]);
    expect(partsOf(planMerges(DAY, records, at(75, true)))).toEqual([[4, 5, 6, 7]]);
  });

  test('of other sizes share streams: none is merged across the other', () => {
    const [a, b] = ofPart(4, some(2, MIB, 1, 2));
    const [whole] = ofPart(2, some(1, 100 * MIB, 1, 2));
    const [other] = ofPart(5, some(1, 100 * MIB, 1, 2));
    const [c] = ofPart(4, some(1, MIB, 1, 2));
    const idsOf = (records: readonly ChunkRecord[]) =>
      planMerges(DAY, records, at(75)).map(({ inputs }) => inputs.map(one => records.indexOf(one)));
    expect(idsOf([a, b, whole, c])).toEqual([[0, 1]]);
    expect(idsOf([a, b, other, c])).toEqual([[0, 1, 3]]);
  });
});

describe('any day', () => {
  const days = fc.array(
    fc.tuple(
      fc.oneof(fc.integer({ min: 100, max: 100_000 }), fc.integer({ min: 100_000, max: 80 * MIB })),
      fc.integer({ min: 0, max: 1439 }),
      // Minutes that the chunk reaches back: most cover a few, some most of the day.
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1439 })),
    ),
    { maxLength: 300 },
  );

  // Half of the days are divided, from few lines on, and have chunks of parts.
  const division = fc.option(fc.infiniteStream(fc.constantFrom(undefined, 2, 3, 4, 5, 12)), {
    nil: undefined,
  });
  const DIVIDED_SIZES = { ...MERGE_SIZES, windowBytesOfPart: 2 * MIB, mergeBytesOfPart: MIB };

  test('ends fully merged, rewrites no byte more than a few times, and keeps the order', () => {
    fc.assert(
      fc.property(days, fc.boolean(), division, (list, force, ofParts) => {
        const isDivided = ofParts !== undefined;
        let records: ChunkRecord[] = list.map(([bytes, minute, back]) => ({
          ...chunk(bytes, minute),
          first: Math.max(0, minute - back) * NS_OF_MINUTE,
          streamPart: ofParts?.next().value as number | undefined,
        }));
        const total = records.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
        const options = {
          ...at(1440 + 61, force),
          ...(isDivided ? { dividesStreams: true, mergeSizes: DIVIDED_SIZES } : {}),
        };
        let rewritten = 0;
        for (let rounds = 0; ; rounds++) {
          expect(rounds).toBeLessThan(1000);
          const planned = planMerges(DAY, records, options);
          if (planned.length === 0) break;
          for (const { inputs } of planned) expect(new ChunkOrder(records).runs(inputs)).toEqual([inputs]);
          for (const { inputs, level, parts = 1 } of planned) {
            if (inputs.length === 1) expect(isUnfinished(inputs[0], MERGE_SIZES)).toBe(true);
            expect(inputs.length).toBeLessThanOrEqual(MAX_INPUTS);
            // No other merge of the plan has taken them.
            expect(inputs.filter(one => !records.includes(one))).toEqual([]);
            const bytes = inputs.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
            expect(bytes).toBeLessThanOrEqual(TARGET);
            rewritten += bytes;
            const last = Math.max(...inputs.map(one => one.last));
            const first = Math.min(...inputs.map(one => one.first));
            records = records.filter(record => !inputs.includes(record));
            const { origin } = inputs[0];
            // As writeOutputs divides them.
            const common = commonPart(inputs.map(({ streamPart = 1 }) => streamPart));
            const more = outputBits(inputs, parts) - partBits(common);
            for (let i = 0; i < 2 ** more; i++) {
              const output = { ...chunk(Math.ceil(bytes / 2 ** more), 0, level), first, last, origin };
              records.push({ ...output, streamPart: common * 2 ** more + i });
            }
            if (!isDivided) expect([common, parts]).toEqual([1, 1]);
          }
        }
        expect(rewritten).toBeLessThanOrEqual(8 * total);
        expect(records.filter(record => isUnfinished(record, MERGE_SIZES))).toEqual([]);
        if (!force) expect(isSettled(DAY, records, options)).toBe(true);
        // Each one left is full, more than three times as large as its neighbors, or between others that share its time.
        const small = records.filter(({ storedBytes }) => storedBytes < TARGET / 2).length;
        expect(small).toBeLessThanOrEqual(40 * (records.length - small + 1));
      }),
      { numRuns: 200 },
    );
  });
});

describe('the order of equal timestamps', () => {
  const inputsOf = (records: readonly ChunkRecord[], options: MergePlanOptions) =>
    planMerge(DAY, records, options)?.inputs.map(({ id }) => records.findIndex(one => one.id === id));
  const spans = (first: number, records: readonly ChunkRecord[]) =>
    records.map(record => ({ ...record, first: first * NS_OF_MINUTE }));

  test('inputs are consecutive by age, for any sizes', () => {
    const sizes = [5, 1, 4, 1, 3, 2].map(kib => chunk(kib * 1024, 1));
    expect(inputsOf(sizes.toReversed(), at(7))).toEqual([5, 4, 3, 2, 1, 0]);
  });

  test('chunks of the time of one between them that is left alone are not merged across it', () => {
    const [a, b] = some(2, 1000, 1);
    const [full] = some(1, 64 * MIB, 1, 2);
    const [c, d] = some(2, 1000, 1);
    expect(inputsOf([a, b, full, c, d], at(3000))).toEqual([0, 1]);
    expect(inputsOf([a, full, c], at(3000))).toBeUndefined();
    const [elsewhere] = some(1, 64 * MIB, 900, 2);
    const [e] = some(1, 1000, 1);
    expect(inputsOf([c, elsewhere, e], at(3000))).toEqual([0, 2]);
  });

  test('does not merge across a chunk of another window, which reaches back', () => {
    const [a] = some(1, 1000, 4);
    const [next] = spans(4, some(1, 1000, 6));
    const [b] = some(1, 1000, 4);
    expect(inputsOf([a, next, b], at(9))).toBeUndefined();
    expect(inputsOf([a, next, b], at(75))).toEqual([0, 1, 2]);
  });

  test('does not merge across a chunk that may not be merged', () => {
    const records = some(5, 1000, 1);
    const mayMerge = (record: ChunkRecord) => record !== records[2];
    expect(inputsOf(records, { ...at(7), mayMerge })).toEqual([0, 1]);
  });

  test('a pile takes the smaller ones between along, and is cut by larger ones', () => {
    // The larger ones do not compress, so that together they do not fill a page.
    const mixed = Array.from({ length: 64 }, (_, i) =>
      i % 2 === 0 ? chunk(1000, 1) : { ...chunk(20_000, 1), lineBytes: 20_000 },
    );
    expect(inputsOf(mixed, at(2))).toEqual(mixed.map((_, i) => i));
    const cut = [...some(31, 1000, 1), ...some(1, MIB, 1), ...some(31, 1000, 1)];
    expect(inputsOf(cut, at(2))).toBeUndefined();
  });

  test('pushes of the last seconds wait for those that were begun before them, unless forced', () => {
    const { nowMs } = at(7);
    const pushed = (agoMs: number) => {
      const id = idAt(nowMs - agoMs);
      return { ...chunk(1000, 1), id, origin: id };
    };
    const records = [20_000, 5000, 999, 1].map(pushed);
    expect(inputsOf(records, at(7))).toEqual([0, 1]);
    expect(inputsOf(records, at(7, true))).toEqual([0, 1, 2, 3]);
    expect(nextClosingMs(DAY, records.slice(2), at(7))).toBe(nowMs + 1);
    expect(isSettled(DAY, records.slice(3), { ...at(1501), nowMs })).toBe(false);
    expect(inputsOf([20_000, 5000, 2999].map(pushed), { ...at(7), settleMs: 3000 })).toEqual([0, 1]);
  });
});

describe('merges because of time alone', () => {
  // [name, chunks, minute of the day, minute of the next closing]
  test.each<[string, ChunkRecord[], number, number]>([
    ['the end of the day for nothing', [], 3, 1500],
    ['the end of the day for one', some(1, 1000, 1), 3, 1500],
    ['the five minutes of two', some(2, 1000, 1), 3, 6],
    ['then their hour', some(2, 1000, 1), 6, 70],
    ['the hour of two windows', [...some(1, 1000, 1), ...some(1, 1000, 20)], 30, 70],
    ['the day of two hours', [...some(1, 1000, 1), ...some(1, 1000, 200)], 300, 1500],
    ['nothing when all are closed', some(2, 1000, 1), 1500, Infinity],
    ['the end of the day for what is full', some(2, 64 * MIB, 1), 3, 1500],
    ['nothing of one when the day is closed', some(1, 1000, 1), 1500, Infinity],
  ])('%s', (_name, records, minute, want) => {
    expect(nextClosingMs(DAY, records, at(minute))).toBe(DAY_START_MS + want * MS_PER_MINUTE);
  });

  test('is not missed: until then a day that is done stays so', () => {
    const arbitraryChunk = fc.tuple(fc.integer({ min: 1, max: TARGET }), fc.integer({ min: 0, max: 1439 }));
    fc.assert(
      fc.property(
        fc.array(arbitraryChunk, { maxLength: 12 }),
        fc.nat(1600),
        fc.nat(1600),
        (chunks, m, more) => {
          const records = chunks.map(([bytes, minute]) => chunk(bytes, minute));
          fc.pre(planMerge(DAY, records, at(m)) === undefined);
          const later = at(m + more);
          fc.pre(later.nowMs < nextClosingMs(DAY, records, at(m)));
          expect(planMerge(DAY, records, later)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});

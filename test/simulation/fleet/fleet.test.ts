import { describe, expect, test } from '@jest/globals';
import { NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { functionTaskSizes } from '../../../shared/read/query/tasks/plan-tasks.ts';
import { streamPartOf } from '../../../shared/storage/catalog/chunk-record.ts';
import { partBits, partOfStream } from '../../../shared/storage/catalog/stream-part.ts';
import { indexesOf, indexWindows } from '../../../shared/storage/index/windows.ts';
import { bySuite, testInFull } from '../../support/suite.ts';
import { testSeeds } from '../seeds.ts';
import { askFleet } from './ask-fleet.ts';
import { CHUNK, QUESTIONS, WORKER } from './figures.ts';
import { footerOf, SyntheticCatalog } from './synthetic-catalog.ts';

const GB = 1e9;
const NO_FAULTS = { lostShare: 0, slowShare: 0, throttledShare: 0 };

describe('a small fleet', () => {
  const [first, last] = testSeeds(bySuite({ fast: 1, full: 2 }));
  const seeds = Array.from({ length: last - first + 1 }, (_, i) => first + i);

  test.each(QUESTIONS.flatMap(question => seeds.map(seed => [question.name, seed, question] as const)))(
    '%s, seed %i: counts every line of the range once',
    async (_, seed, question) => {
      const answer = await askFleet({
        seed,
        bytesPerDay: 500 * GB,
        rangeHours: 1,
        question,
        concurrency: 100,
        faults: NO_FAULTS,
      });
      expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
      expect(Math.max(0, ...answer.worked.values())).toBeLessThanOrEqual(1);
    },
  );

  test.each(QUESTIONS.map(question => [question.name, question] as const))(
    '%s, planned by workers: counts every line once, and the query function holds no footers',
    async (_, question) => {
      const asked = {
        seed: first,
        bytesPerDay: 2_000 * GB,
        rangeHours: 1,
        question,
        concurrency: 500,
        slots: 300,
      };
      const answer = await askFleet({ ...asked, faults: NO_FAULTS });
      expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
      expect(Math.max(0, ...answer.worked.values())).toBeLessThanOrEqual(1);
      expect(answer.heapBytes).toBeLessThan(300 * 1024 * 1024);
    },
  );

  test('a large day is divided into parts of the streams, and has as many chunks as without parts', () => {
    const [day, other] = [10, 11];
    for (const [bytesPerDay, parts] of [
      [1_000 * GB, 1],
      [2_000 * GB, 2],
      [10_000 * GB, 8],
    ]) {
      const catalog = new SyntheticCatalog(bytesPerDay, other);
      const start = BigInt(day) * NS_PER_DAY;
      const records = catalog.recordsOf(start, start + NS_PER_DAY - 1n);
      expect(records).toHaveLength(Math.round(bytesPerDay / CHUNK.lineBytes));
      expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
      const [, ...ofTimes] = Map.groupBy(records, ({ first }) => first).values();
      for (const ofTime of ofTimes) expect(new Set(ofTime.map(streamPartOf)).size).toBe(parts);
      const [ofTime] = ofTimes;
      expect(ofTime).toHaveLength(parts);
      const streams = ofTime.flatMap(record => footerOf(record).streams.map(({ text }) => text));
      expect(new Set(streams).size).toBe(streams.length);
      for (const record of ofTime) {
        const bits = partBits(streamPartOf(record));
        for (const stream of footerOf(record).streams)
          expect(partOfStream(stream, bits)).toBe(streamPartOf(record));
      }
    }
  });

  test.each([
    [1_000, 1, 1],
    [10_000, 4, 8],
    [100_000, 24, 8],
  ])(
    'indexes of %i GB a day are of %i windows and %i parts, and cover every chunk once',
    (gb, windows, parts) => {
      const catalog = new SyntheticCatalog(gb * GB, 2);
      const indexes = catalog.indexes();
      expect(new Set(indexes.map(({ fromMinute }) => fromMinute)).size).toBe(windows);
      expect(new Set(indexes.map(streamPartOf)).size).toBe(parts);
      const records = catalog.recordsOfDay(1);
      const inIndexes = indexWindows(records, indexes);
      expect(inIndexes).toHaveLength(indexes.length);
      const ids = inIndexes.flatMap(({ records: ofIndex }) => ofIndex.map(({ id }) => id));
      expect(new Set(ids).size).toBe(records.length);
      expect(ids).toHaveLength(records.length);
      for (const [i, { records: ofIndex }] of inIndexes.entries()) {
        expect(indexesOf(ofIndex, indexes)).toEqual([indexes[i]]);
      }
    },
  );

  const inParts = {
    seed: first,
    bytesPerDay: 8_000 * GB,
    rangeHours: 1,
    concurrency: 500,
    slots: 500,
    maxParallelism: 500,
    faults: NO_FAULTS,
  };
  // Merging results of many series takes long. A test above has them with 2 parts.
  const askedInParts = QUESTIONS.filter(({ series }) => series === undefined);

  test.each(askedInParts.map(question => [question.name, question] as const))(
    '%s, over a day of 8 parts of the streams: counts every line once',
    async (_, question) => {
      expect(new SyntheticCatalog(inParts.bytesPerDay, 1).parts).toBe(8);
      const answer = await askFleet({ ...inParts, question });
      expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
      expect(Math.max(0, ...answer.worked.values())).toBeLessThanOrEqual(1);
    },
  );

  test('lines of the same time in other parts of the streams are all in the answer', async () => {
    const lines = QUESTIONS.find(({ name }) => name === 'lines with a needle')!;
    const question = { ...lines, shareLeft: 0.05, limit: 5_000 };
    const answer = await askFleet({ ...inParts, question });
    expect(answer.plainLines).toBeGreaterThan(500);
    expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
  });

  test('a needle over 24 hours at 10 TB a day takes less than 3 s with 500 calls, also with faults', async () => {
    const [question] = QUESTIONS;
    const asked = { bytesPerDay: 10_000 * GB, rangeHours: 24, question, concurrency: 1000 };
    const answer = await askFleet({ ...asked, seed: 1, slots: 500, maxParallelism: 500 });
    expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
    expect(answer.ms).toBeLessThan(3_000);
    expect(answer.heapBytes).toBeLessThan(2e9);
  });

  testInFull('a count over 24 hours at 10 TB a day takes less than 2 s, also with faults', async () => {
    const [, question] = QUESTIONS;
    const asked = { bytesPerDay: 10_000 * GB, rangeHours: 24, question, concurrency: 1000 };
    const answer = await askFleet({ ...asked, seed: 1 });
    expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
    expect(answer.ms).toBeLessThan(2_000);
    expect(answer.heapBytes).toBeLessThan(2e9);
  });

  test('a count over 7 days takes less than 2 s, also with faults', async () => {
    const [, question] = QUESTIONS;
    const asked = { bytesPerDay: 1_000 * GB, rangeHours: 7 * 24, question, concurrency: 1000 };
    const answer = await askFleet({ ...asked, seed: 1 });
    expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
    expect(answer.ms).toBeLessThan(2_000);
    expect(answer.heapBytes).toBeLessThan(2e9);
  });

  test('a regular expression over an hour at 10 TB a day costs less than $0.06 for a TB', async () => {
    const question = QUESTIONS.find(({ name }) => name === 'regular expression')!;
    const asked = { bytesPerDay: 10_000 * GB, rangeHours: 1, question, concurrency: 1000, faults: NO_FAULTS };
    const answer = await askFleet({ ...asked, seed: 1, slots: 500, maxParallelism: 500 });
    expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
    expect(answer.ms).toBeLessThan(15_000);
    expect(answer.dollars / (asked.bytesPerDay / 24 / 1e12)).toBeLessThan(0.06);
  });

  test.each([
    // One round of cold starts, although chunks of 8 parts of the streams can have them.
    ['newest 100 lines', 24, 800, 20],
    ['newest 100 lines', 168, 1_500, 20],
    ['lines with a needle', 24, 3_000, 300],
  ])('%s of %i hours at 10 TB a day take less than %i ms and %i tasks', async (...given) => {
    const [name, rangeHours, mostMs, mostTasks] = given;
    const question = QUESTIONS.find(one => one.name === name)!;
    const asked = { bytesPerDay: 10_000 * GB, rangeHours, question, concurrency: 1000 };
    const answer = await askFleet({ ...asked, seed: 1, faults: NO_FAULTS });
    expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
    expect(answer.ms).toBeLessThan(mostMs);
    expect(answer.tasks).toBeLessThan(mostTasks);
    expect(answer.heapBytes).toBeLessThan(2e9);
  });

  test('workers that merge large results count every line once, also with faults', async () => {
    const question = { ...QUESTIONS.find(({ series }) => series !== undefined)!, series: 400 };
    const sizes = { ...functionTaskSizes(20), mergedTasks: 8, largeResultBytes: 1000 };
    const asked = { bytesPerDay: 2_000 * GB, rangeHours: 1, question, concurrency: 100, slots: 20, sizes };
    const flat = await askFleet({
      ...asked,
      seed: 1,
      sizes: { ...sizes, mergedFrom: Infinity },
      faults: NO_FAULTS,
    });
    const merged = await askFleet({ ...asked, seed: 1, faults: NO_FAULTS });
    for (const answer of [flat, merged]) {
      expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
      expect(Math.max(...answer.worked.values())).toBe(1);
    }
    expect(merged.tasks).toBeLessThan(0.7 * flat.tasks);
    const faults = { lostShare: 0.02, slowShare: 0.1, throttledShare: 0.1 };
    const faulty = await askFleet({ ...asked, seed: 2, faults });
    expect(faulty).toMatchObject({ end: 'answered', message: '', lines: faulty.plainLines });
  });

  test('workers that are slow, refused or lost change no answer', async () => {
    const faults = { lostShare: 0.02, slowShare: 0.1, throttledShare: 0.1 };
    const [, , question] = QUESTIONS;
    const asked = { bytesPerDay: 200 * GB, rangeHours: 1, question, concurrency: 20, faults };
    let faulty = 0;
    for (const seed of seeds) {
      const answer = await askFleet({ ...asked, seed });
      faulty += answer.lambda.refused + answer.lambda.lost;
      expect(answer).toMatchObject({ end: 'answered', message: '', lines: answer.plainLines });
    }
    expect(faulty).toBeGreaterThan(0);
  });

  test('requests that S3 and DynamoDB throttle are sent again, and change no answer', async () => {
    const [question] = QUESTIONS;
    const asked = {
      seed: 1,
      bytesPerDay: 2_000 * GB,
      rangeHours: 1,
      question,
      concurrency: 500,
      faults: NO_FAULTS,
    };
    const calm = await askFleet(asked);
    const throttled = await askFleet({ ...asked, throttledShare: 0.05 });
    expect(throttled).toMatchObject({ end: 'answered', message: '', lines: calm.lines });
    expect(throttled.requests).toBeGreaterThan(1.04 * calm.requests);
    expect(throttled.ms).toBeGreaterThan(calm.ms);
    expect(Math.max(...throttled.worked.values())).toBe(1);
  });

  test('the same seed takes the same time and makes the same calls', async () => {
    const asked = {
      seed: first,
      bytesPerDay: 200 * GB,
      rangeHours: 1,
      question: QUESTIONS[2],
      concurrency: 50,
      faults: WORKER,
    };
    const [one, other] = [await askFleet(asked), await askFleet(asked)];
    expect(one).toEqual(other);
  });
});

import { describe, expect, test } from '@jest/globals';
import { testSeeds } from '../seeds.ts';
import { askFleet } from './ask-fleet.ts';
import { QUESTIONS, WORKER } from './figures.ts';

const GB = 1e9;
const NO_FAULTS = { lostShare: 0, slowShare: 0, throttledShare: 0 };

describe('a small fleet', () => {
  const [first, last] = testSeeds(2);
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

/** Counters of threads: added up they never go down, and they are there in bounded time. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CountingThread, ThreadFigures } from '../../../local/threads/thread-figures.ts';
import { ExpositionSum, parseExposition } from '../../../shared/server/admin/metrics/exposition.ts';

const textOf = (count: number, running: number) =>
  `# HELP c_total c\n# TYPE c_total counter\nc_total{tenant="a"} ${count}\n# TYPE g gauge\ng ${running}\n`;

function sumOf(texts: readonly string[]) {
  const sum = new ExpositionSum({ maxTenants: 10 });
  for (const text of texts) sum.add(parseExposition(text));
  return {
    count: sum.all.get('c_total')?.samples.get('c_total{tenant="a"}') ?? 0,
    running: sum.all.get('g')?.samples.get('g') ?? 0,
  };
}

test('adds up the counters of threads', async () => {
  const threads = [1, 10, 100].map((count, i) => ({
    name: `t-${i}`,
    starts: 1,
    text: async () => textOf(count, 1),
  }));
  expect(sumOf(await new ThreadFigures().texts(threads))).toEqual({ count: 111, running: 3 });
});

test('a thread that does not answer in time keeps its last figures, and is queried once at a time', async () => {
  const figures = new ThreadFigures({ answerMs: 5 });
  let asked = 0;
  let answer: (text: string) => void = () => undefined;
  let isStuck = false;
  const slow: CountingThread = {
    name: 'slow',
    starts: 1,
    text: () => {
      asked++;
      return isStuck ? new Promise(resolve => (answer = resolve)) : Promise.resolve(textOf(7, 1));
    },
  };
  const quick: CountingThread = { name: 'quick', starts: 1, text: async () => textOf(1, 0) };
  expect(sumOf(await figures.texts([slow, quick])).count).toBe(8);
  isStuck = true;
  for (let i = 0; i < 3; i++) expect(sumOf(await figures.texts([slow, quick])).count).toBe(8);
  expect(asked).toBe(2);
  // A late response is not lost.
  answer(textOf(9, 1));
  isStuck = false;
  expect(sumOf(await figures.texts([slow, quick])).count).toBe(10);
});

test('counters never decrease when threads end; gauges cover running threads', async () => {
  const event = fc.record({
    thread: fc.nat(2),
    what: fc.constantFrom('counts', 'counts', 'is lost', 'asks', 'asks and is lost'),
    by: fc.nat(100),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 40 }), async events => {
      const figures = new ThreadFigures();
      const threads = [0, 1, 2].map(i => ({ name: `t-${i}`, starts: 1, count: 0, fails: false }));
      const asked = () =>
        figures.texts(
          threads.map(thread => ({
            name: thread.name,
            starts: thread.starts,
            text: async () => {
              if (thread.fails) throw new Error('lost');
              return textOf(thread.count, 1);
            },
          })),
        );
      let shown = 0;
      let all = 0;
      for (const { thread: i, what, by } of events) {
        const thread = threads[i];
        if (what === 'counts') {
          thread.count += by;
          all += by;
          continue;
        }
        thread.fails = what === 'asks and is lost';
        if (what !== 'is lost') {
          const { count } = sumOf(await asked());
          expect(count).toBeGreaterThanOrEqual(shown);
          expect(count).toBeLessThanOrEqual(all);
          shown = count;
        }
        thread.fails = false;
        if (what !== 'asks') {
          thread.starts++;
          thread.count = 0;
        }
      }
      const { count, running } = sumOf(await asked());
      expect(count).toBeGreaterThanOrEqual(shown);
      expect(running).toBe(3);
    }),
  );
});

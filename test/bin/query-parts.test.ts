import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { commonLabels, ownLabels } from '../../bin/cli/answer-text.ts';
import { CommandError } from '../../bin/cli/command-error.ts';
import { logPages } from '../../bin/cli/log-pages.ts';
import type { Direction, PrintedEntry, RangeAnswer, RangeRequest } from '../../bin/cli/range-query.ts';
import { millisecondText, nanosecondText, rangeOf } from '../../bin/cli/time-text.ts';
import { NS_PER_SECOND as S } from '../../shared/base/model/time-units.ts';

/** A store that holds these entries and answers as query_range does: start included, end not. */
function storeOf(entries: readonly PrintedEntry[], requests: RangeRequest[]) {
  return async (request: RangeRequest): Promise<RangeAnswer> => {
    requests.push(request);
    const sign = request.direction === 'forward' ? 1 : -1;
    const found = entries
      .filter(({ timeNs }) => timeNs >= request.startNs && timeNs < request.endNs)
      .sort((a, b) => sign * Number(a.timeNs - b.timeNs))
      .slice(0, request.limit);
    return { kind: 'streams', entries: found, warnings: [] };
  };
}

async function page(
  entries: readonly PrintedEntry[],
  { limit, batch, direction }: { limit: number; batch: number; direction: Direction },
) {
  const requests: RangeRequest[] = [];
  const range = { query: 'q', startNs: 0n, endNs: 20n };
  const got: PrintedEntry[] = [];
  for await (const answer of logPages(storeOf(entries, requests), { ...range, direction, limit, batch })) {
    if (answer.kind === 'streams') got.push(...answer.entries);
  }
  return { got, requests };
}

const entryOf = (time: number, line: string): PrintedEntry => ({
  timeNs: BigInt(time),
  labels: { a: 'b' },
  line,
});

describe('pages of a log query', () => {
  test('add up to the result of one query, however many entries are equal or share a time', async () => {
    const entry = fc
      .tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom('x', 'y'))
      .map(([time, line]) => entryOf(time, line));
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 40 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 10 }),
        fc.constantFrom<Direction>('forward', 'backward'),
        async (entries, limit, batch, direction) => {
          const { got } = await page(entries, { limit, batch, direction });
          const { got: whole } = await page(entries, { limit, batch: 1000, direction });
          expect(got).toEqual(whole);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('request at most a batch and the overlap, and stop at the end', async () => {
    const entries = [1, 2, 2, 2, 3, 4].map((time, i) => entryOf(time, `${i}`));
    const { requests, got } = await page(entries, { limit: Infinity, batch: 2, direction: 'forward' });
    expect(got.map(({ line }) => line)).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(requests.map(({ startNs, limit }) => [startNs, limit])).toEqual([
      [0n, 2],
      [2n, 3],
      [2n, 5],
      [4n, 3],
    ]);
  });

  test('request at most what stores return by default, if a new entry fits', async () => {
    const tied = Array.from({ length: 4600 }, (_, i) => entryOf(5, `${i}`));
    const { requests, got } = await page([...tied, entryOf(9, 'after')], {
      limit: Infinity,
      batch: 1000,
      direction: 'forward',
    });
    expect(got).toHaveLength(4601);
    expect(requests.map(({ limit }) => limit)).toEqual([1000, 2000, 3000, 4000, 5000]);
  });

  test('report if more entries have a timestamp than one request returns', async () => {
    const tied = Array.from({ length: 6000 }, (_, i) => entryOf(1_767_607_200_000_000_000, `${i}`));
    const fetchRange = async (request: RangeRequest) => {
      if (request.limit > 5000) throw new CommandError('max entries limit per query exceeded');
      return storeOf(tied, [])(request);
    };
    const range = {
      query: 'q',
      startNs: 0n,
      endNs: 2n ** 62n,
      direction: 'backward',
      limit: Infinity,
    } as const;
    const read = async () => {
      for await (const _ of logPages(fetchRange, { ...range, batch: 1000 }));
    };
    await expect(read()).rejects.toThrow(
      'max entries limit per query exceeded; at least 5000 entries have the timestamp 2026-01-05T10:00:00.000000000Z, and one',
    );
    const other = async () => {
      throw new CommandError('out of order');
    };
    await expect(logPages(other, { ...range, batch: 6000 }).next()).rejects.toThrow(/^out of order$/);
  });

  test('pass on the result of a metric query once', async () => {
    let asked = 0;
    const matrix: RangeAnswer = { kind: 'matrix', series: [], warnings: [] };
    const request = {
      query: 'q',
      startNs: 0n,
      endNs: 1n,
      direction: 'forward',
      limit: 10,
      batch: 1,
    } as const;
    const answers: RangeAnswer[] = [];
    const fetchOnce = async () => {
      asked++;
      return matrix;
    };
    for await (const answer of logPages(fetchOnce, request)) answers.push(answer);
    expect({ answers, asked }).toEqual({ answers: [matrix], asked: 1 });
  });
});

test.each<[Record<string, string>[], Record<string, string>]>([
  [[], {}],
  [[{ a: '1', b: '2' }], { a: '1', b: '2' }],
  [
    [
      { a: '1', b: '2' },
      { a: '1', b: '3' },
    ],
    { a: '1' },
  ],
  [[{ a: '1' }, {}], {}],
  [[{ a: '1' }, { b: '1' }, { a: '1' }], {}],
])('common labels of %j', (sets, want) => {
  expect(commonLabels(sets)).toEqual(want);
});

test.each([
  [{ a: '1', b: '2' }, { a: '1' }, { b: '2' }],
  [{ a: '2' }, { a: '1' }, { a: '2' }],
  [{ b: '2' }, { a: '1' }, { a: '', b: '2' }],
])('labels of %j that differ from %j', (labels, common, want) => {
  expect(ownLabels(labels as Record<string, string>, common)).toEqual(want);
});

test.each([
  [0n, '1970-01-01T00:00:00.000000000Z', '1970-01-01T00:00:00.000Z'],
  [1_767_607_200_123_456_789n, '2026-01-05T10:00:00.123456789Z', '2026-01-05T10:00:00.123Z'],
  [-1n, '1969-12-31T23:59:59.999999999Z', '1969-12-31T23:59:59.999Z'],
])('time %s', (ns, nanoseconds, milliseconds) => {
  expect(nanosecondText(ns)).toBe(nanoseconds);
  expect(millisecondText(ns)).toBe(milliseconds);
});

test('a range has its ends, or a length before one of them', () => {
  expect(rangeOf({ sinceNs: 10n }, 100n)).toEqual({ startNs: 90n, endNs: 100n });
  expect(rangeOf({ sinceNs: 10n, to: '50' }, 100n)).toEqual({ startNs: 50n * S - 10n, endNs: 50n * S });
  expect(rangeOf({ sinceNs: 10n, from: 'now-5ms' }, 100n)).toEqual({
    startNs: 100n - 5_000_000n,
    endNs: 100n,
  });
});

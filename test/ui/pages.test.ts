/** Pages of log lines by timestamp: nothing is skipped or repeated, however many lines have one timestamp. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogStream } from '../../ui/src/api/types.ts';
import { rowsOnSide } from '../../ui/src/lines/context.ts';
import { type LogPageRequest, nextPage } from '../../ui/src/lines/next-page.ts';
import { type LogRow, logRowsOf, withPage } from '../../ui/src/lines/rows.ts';

interface Plain {
  readonly app: string;
  readonly ns: number;
  readonly line: string;
}

const BASE = 1_700_000_000_000_000_000n;
const nsOf = (ns: number | bigint) => `${BASE + BigInt(ns)}`;

/** Answers as query_range does: entries in order of arrival, or its reverse; streams by name at equal timestamps. */
function answerOf(
  entries: readonly Plain[],
  { startNs, endNs, limit }: LogPageRequest,
  newestFirst: boolean,
): LogStream[] {
  const sign = newestFirst ? -1 : 1;
  const found = entries
    .map((entry, index) => ({ ...entry, index }))
    .filter(({ ns }) => BigInt(nsOf(ns)) >= BigInt(startNs) && BigInt(nsOf(ns)) < BigInt(endNs))
    .sort(
      (a, b) =>
        sign * (a.ns - b.ns) || (a.app === b.app ? sign * (a.index - b.index) : a.app < b.app ? -1 : 1),
    )
    .slice(0, limit);
  const streams = new Map<string, [string, string][]>();
  for (const { app, ns, line } of found) {
    const values = streams.get(app) ?? [];
    streams.set(app, values);
    values.push([nsOf(ns), line]);
  }
  return [...streams].sort().map(([app, values]) => ({ stream: { app }, values }));
}

const textOf = ({ stream, ns, line }: LogRow) => `${stream.app} ${BigInt(ns) - BASE} ${line}`;
const WHOLE = { startNs: nsOf(0), endNs: nsOf(100) };

describe('pages of a list', () => {
  const entry: fc.Arbitrary<Plain> = fc.record({
    app: fc.constantFrom('a', 'b'),
    ns: fc.constantFrom(1, 2, 2, 2, 3),
    // A query can drop the labels that distinguish entries, so equal ones are several entries.
    line: fc.constantFrom('x', 'y', 'z'),
  });

  test('together are the whole answer, if no timestamp has more lines than one request returns', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 40 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 8, max: 60 }),
        (entries, newestFirst, pageEntries, maxEntries) => {
          let rows: readonly LogRow[] = [];
          let stuck = false;
          for (let pages = 0; ; pages++) {
            expect(pages).toBeLessThan(60);
            const asked = nextPage(rows, WHOLE, newestFirst, [pageEntries, maxEntries]);
            stuck = asked === undefined;
            if (asked === undefined) break;
            expect(asked.limit).toBeLessThanOrEqual(maxEntries);
            const page = logRowsOf(answerOf(entries, asked, newestFirst), newestFirst);
            rows = withPage(rows, page);
            if (page.length < asked.limit) break;
          }
          const whole = logRowsOf(answerOf(entries, { ...WHOLE, limit: 1000 }, newestFirst), newestFirst);
          expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
          expect(rows.map(({ ns }) => ns)).toEqual(whole.slice(0, rows.length).map(({ ns }) => ns));
          if (!stuck) expect(rows.map(textOf).sort()).toEqual(whole.map(textOf).sort());
          else
            expect(rows.filter(({ ns }) => ns === rows.at(-1)!.ns).length).toBeGreaterThanOrEqual(maxEntries);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('newest first shows the lines of one timestamp in reverse', () => {
    const trace = ['Exception: boom', 'at f1', 'at f2'].map(line => ({ app: 'a', ns: 5, line }));
    const lines = (newestFirst: boolean) =>
      logRowsOf(answerOf(trace, { ...WHOLE, limit: 9 }, newestFirst), newestFirst).map(({ line }) => line);
    expect(lines(true)).toEqual(['at f2', 'at f1', 'Exception: boom']);
    expect(lines(false)).toEqual(['Exception: boom', 'at f1', 'at f2']);
  });
});

describe('lines around a line', () => {
  const entries: Plain[] = [
    ...['0', '1'].map(line => ({ app: 'a', ns: 1, line })),
    ...['2', '3', '4', '5'].map(line => ({ app: 'a', ns: 2, line })),
    { app: 'b', ns: 2, line: 'other' },
    { app: 'a', ns: 3, line: '6' },
  ];
  const pageOf = (newestFirst: boolean, limit: number) => {
    const range = newestFirst ? { ...WHOLE, endNs: nsOf(3) } : { ...WHOLE, startNs: nsOf(2) };
    return logRowsOf(answerOf(entries, { ...range, limit }, newestFirst), newestFirst);
  };
  const row = pageOf(false, 100).find(({ line }) => line === '3')!;
  const beside = (side: 'before' | 'after', limit: number, of = row) => {
    const page = pageOf(side === 'before', limit);
    return rowsOnSide(page, of, side, page.length < limit)?.map(({ line }) => line);
  };

  test('lines with the same timestamp are before or after the line, never both', () => {
    expect(beside('before', 100)).toEqual(['2', '1', '0']);
    expect(beside('after', 100)).toEqual(['4', '5', 'other', '6']);
  });

  test('are unknown as long as the answer does not reach the line', () => {
    expect([beside('before', 2), beside('before', 3), beside('before', 4)]).toEqual([undefined, [], ['2']]);
    expect([beside('after', 1), beside('after', 2), beside('after', 3)]).toEqual([undefined, [], ['4']]);
  });

  test('lines with the timestamp of a line that the query changed are after it', () => {
    const changed = { ...row, line: 'changed' };
    expect(beside('before', 100, changed)).toEqual(['1', '0']);
    expect(beside('after', 100, changed)).toEqual(['2', '3', '4', '5', 'other', '6']);
  });
});

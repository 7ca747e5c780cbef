/** The product against an evaluator that looks at one entry after the other. `npm run test:differential` asks more. */
import { describe, expect, test } from '@jest/globals';
import { ColumnKind, SectionKind } from '../../shared/storage/chunk/format.ts';
import { bySuite, sampleOf } from '../support/suite.ts';
import { Differential, formatDisagreement } from './differential.ts';

const QUERIES = bySuite({ fast: 30, full: 250 });
const differential = Differential.of(1);

describe('the product answers as the oracle does', () => {
  // The same ones in every run; new ones are for the nightly command.
  test.each([
    [0, QUERIES - 1],
    [QUERIES, 2 * QUERIES - 1],
  ])('seeds %i to %i', async first => {
    const outcome = await (await differential).run(first, QUERIES);
    expect(outcome.disagreements.map(formatDisagreement)).toEqual([]);
    // The oracle has an opinion on most queries, and most of these have something to compare.
    expect(outcome.compared + outcome.undecided).toBe(QUERIES);
    expect(outcome.undecided).toBeLessThan(0.2 * QUERIES);
    expect(outcome.empty + outcome.failed).toBeLessThan(0.6 * QUERIES);
  });
});

test('the stores differ in what queries can read', async () => {
  const [small, merged, both, plain] = (await differential).stores;
  const fields = ({ footers }: typeof small) => {
    const columns = footers.flatMap(({ pages }) => pages.flatMap(page => page.columns));
    const kinds: number[] = [ColumnKind.field, ColumnKind.splitField];
    return columns.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
  };
  const sections = ({ footers }: typeof small) =>
    new Set(footers.flatMap(footer => footer.sections.map(({ kind }) => kind)));
  expect(small.footers.length).toBeGreaterThan(10);
  expect(fields(small)).toEqual([]);
  expect(merged.footers).toHaveLength(1);
  expect(merged.footers[0].pages.length).toBeGreaterThan(3);
  expect(fields(merged)).toEqual(expect.arrayContaining(['jlevel', 'jstatus', 'lstatus', 'ltook']));
  expect([...sections(merged)]).toEqual(expect.arrayContaining([SectionKind.filter, SectionKind.summaries]));
  expect(both.footers.length).toBeGreaterThan(5);
  expect(fields(both)).toEqual(expect.arrayContaining(['jstatus', 'lstatus']));
  expect(plain.footers).toHaveLength(1);
  expect(fields(plain)).toEqual([]);
});

describe('a planted bug is found, and its query is made small', () => {
  const PLANTED: readonly [string, (text: string) => string, RegExp][] = [
    [
      'empty values are kept',
      text =>
        text.replaceAll('| logfmt', '| logfmt --keep-empty').replaceAll('--keep-empty --strict', '--strict'),
      /^\{[^}]*\} \| logfmt$/,
    ],
    ['line filters ignore case', text => text.replaceAll('|= "', '|~ "(?i)'), /^\{[^}]*\} \|= "[^|]*$/],
    ['windows begin later', text => text.replaceAll('[5m]', '[4m]'), /_over_time\(\{[^|]*\} \[5m\]\)|rate\(/],
  ];

  test.each(sampleOf(PLANTED, 6))('%s', async (_name, misread, minimal) => {
    const { disagreements } = await (await differential).run(0, 400, { misread });
    expect(disagreements.length).toBeGreaterThan(0);
    for (const one of disagreements) expect(one.minimal.length).toBeLessThanOrEqual(one.query.length);
    expect(disagreements.map(one => one.minimal)).toEqual(
      expect.arrayContaining([expect.stringMatching(minimal)]),
    );
    const [{ seed, query }] = disagreements;
    expect(formatDisagreement(disagreements[0])).toMatch(`seed ${seed}`);
    expect(formatDisagreement(disagreements[0])).toMatch(query);
  });
});

/**
 * Queries of patterns have the same results whether lines are split into templates and columns or not, and whether pages are cached
 * or not: those of a plain evaluation of each line. Random lines, patterns and filters; many queries of the same pages, because
 * cached pages keep what earlier queries found.
 */
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { answerOf, PatternPanels, type PatternQuery, randomQuery } from '../support/pattern-queries.ts';
import { splitStore } from '../support/split-store.ts';
import { type VariedRow, variedRows } from '../support/varied-rows.ts';

const CACHE_BYTES = 8 * 1024 * 1024;
/** Pages are cached from their first and from their second use on. */
const CACHES = [new PageCache(CACHE_BYTES, { keepsFirst: true }), new PageCache(CACHE_BYTES)];

interface Given {
  readonly seed: number;
  /** Whether the chunk has fields and sections. */
  readonly isIndexed: boolean;
  /** Whether the chunk has several pages. */
  readonly isLarge: boolean;
  /** Whether a delete request hides rows. */
  readonly hides: boolean;
  /** Whether another chunk has some of the rows. */
  readonly repeats: boolean;
  readonly cache: number;
}

/** The rows of a seed, or of one of the next, whose lines are worth splitting. */
async function splitRows({ seed, isIndexed, isLarge, repeats, cache }: Given) {
  // A page ends behind half of them where a stream ends.
  const pageBytes = isLarge ? 132_000 : undefined;
  for (let tried = 0; ; tried++) {
    const of = variedRows(seed + tried, isLarge ? 160_000 : 66_000);
    const entries = of.rows.map(({ entry }) => entry);
    const repeated = repeats ? entries.filter((_, i) => i % 3 === 0) : [];
    const store = await splitStore(entries, { pageBytes, isIndexed, repeated, cache: CACHES[cache] });
    if (store.splitPages.includes(true)) return { of, store };
    expect(tried).toBeLessThan(9);
  }
}

async function compare(given: Given, queries: number): Promise<void> {
  const { of, store } = await splitRows(given);
  const { dice } = of;
  if (given.hides) store.hide('{app="x"} |= "12"');
  const isHidden = ({ labels, line }: VariedRow) => given.hides && labels.app === 'x' && line.includes('12');
  const panels = new PatternPanels(of);
  const wanted: PatternQuery[] = [];
  for (let i = 0; i < queries; i++) {
    const query = randomQuery(of, panels, isHidden);
    const answer = await answerOf(store.plain, query);
    if (query.answer !== undefined) expectAnswer(query, answer);
    wanted.push({ ...query, answer });
  }
  // Queries at the same time overwrite lines of each other.
  const cold = await Promise.all(wanted.map(query => answerOf(store.cold, query)));
  for (const [i, answer] of cold.entries()) expectAnswer(wanted[i], answer);
  for (let left = 2 * wanted.length; left > 0; ) {
    if (dice.chance(0.03)) CACHES[given.cache].clear();
    const together = Array.from({ length: dice.pick([1, 1, 3]) }, () => dice.pick(wanted));
    const engine = () => (dice.chance(0.7) ? store.warm : store.plainWarm);
    const warm = await Promise.all(together.map(query => answerOf(engine(), query)));
    for (const [i, answer] of warm.entries()) expectAnswer(together[i], answer);
    left -= together.length;
  }
}

/** Fails with the query, and with what differs. */
function expectAnswer(query: PatternQuery, answer: PatternQuery['answer']): void {
  if (JSON.stringify(answer) !== JSON.stringify(query.answer)) expect({ ...query, answer }).toEqual(query);
}

const given = fc.record<Given>({
  seed: fc.noShrink(fc.nat(0x7fff_ffff)),
  isIndexed: fc.boolean(),
  isLarge: fc.boolean(),
  hides: fc.boolean(),
  repeats: fc.constantFrom(false, false, true),
  cache: fc.nat(CACHES.length - 1),
});

describe('patterns over split lines', () => {
  afterEach(() => void jest.restoreAllMocks());

  test('results are those of whole lines', async () => {
    await fc.assert(
      fc.asyncProperty(given, one => compare(one, 16)),
      { numRuns: 64, endOnFailure: true },
    );
  });

  test('results are those of whole lines if time slices end after each few rows', async () => {
    let now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 3));
    await fc.assert(
      fc.asyncProperty(given, one => compare(one, 10)),
      { numRuns: 20, endOnFailure: true },
    );
  });
});

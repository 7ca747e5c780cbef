/**
 * Logs of services: at most as many patterns as the reference's algorithm, and at least as many covered
 * lines.
 */
import { expect, test } from '@jest/globals';
import { CORPORA, makeCorpus } from './corpora.ts';
import { linesOf, mine, qualityOf, referenceQuality } from './quality.ts';

test.each(Object.keys(CORPORA))('%s', name => {
  const lines = makeCorpus(name, 3000, 7);
  const found = mine(lines, { builders: 3, pageLines: 500 });
  const own = qualityOf(lines, found);
  const reference = referenceQuality(lines);
  // Patterns of most lines come first: this many cover what all of the reference's do.
  let covered = 0;
  const needed = found.findIndex(one => (covered += linesOf(one)) >= reference.coverage * lines.length) + 1;
  expect(needed).toBeGreaterThan(0);
  expect(needed).toBeLessThanOrEqual(reference.patterns);
  expect(own.coverage).toBeGreaterThanOrEqual(reference.coverage);
  expect(own.coverage).toBeGreaterThan(0.97);
  // Few patterns are easily had: those of several events are none.
  expect(own.purity).toBeGreaterThan(0.9);
  expect(found.every(one => linesOf(one) >= 30)).toBe(true);
});

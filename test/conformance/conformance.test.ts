/**
 * The recorded responses of the reference against the whole store, over HTTP. run.ts is the view for
 * developers.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { sampleOf } from '../support/suite.ts';
import {
  CONFORMANCE_CONFIG,
  checkCases,
  compactCorpus,
  explain,
  failures,
  pushCorpus,
  table,
  type Verdict,
} from './check.ts';
import { loadExceptions } from './exceptions.ts';
import { isServed, loadCases } from './recorded.ts';

const SHOWN_FAILURES = 10;
const MIN_SERVED = 1400;

const cases = loadCases();
const served = cases.filter(isServed);
const exceptions = loadExceptions();
const categories = [...new Set(served.map(({ category }) => category))];

/**
 * Responses are the same for the corpus as it was pushed, and merged and indexed. The fast suite queries only
 * the first.
 */
describe.each(
  sampleOf(
    [
      ['as pushed', async () => undefined],
      ['compacted and indexed', compactCorpus],
    ] as const,
    2,
  ),
)('recorded answers, %s', (_name, prepare) => {
  const verdicts: Verdict[] = [];
  let store: TestStore;

  beforeAll(async () => {
    store = await startStore(CONFORMANCE_CONFIG);
    await pushCorpus(store.client);
    await prepare(store.client);
  });

  afterAll(async () => {
    await store?.stop();
    process.stdout.write(`\n${table(verdicts)}\n`);
  });

  test('exist', () => {
    expect(cases.length).toBe(1745);
    expect(served.length).toBeGreaterThan(MIN_SERVED);
  });

  test('have exceptions that name a case and a difference', () => {
    const ids = new Set(cases.map(({ id }) => id));
    expect(
      [...exceptions].filter(([id, number]) => !ids.has(id) || !/^D([1-9]|1[0-8])$/.test(number)),
    ).toEqual([]);
  });

  test.each(categories)('%s', async category => {
    const of = served.filter(recorded => recorded.category === category);
    const checked = await checkCases(store.client, of, exceptions);
    verdicts.push(...checked);
    const failed = failures(checked);
    if (failed.length === 0) return;
    const shown = failed.slice(0, SHOWN_FAILURES).map(explain);
    throw new Error(`${failed.length} of ${checked.length} are not as recorded\n${shown.join('\n')}`);
  });
});

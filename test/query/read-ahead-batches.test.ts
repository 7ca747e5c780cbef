/** Batches of a scan over a distant store, by the budget of the process. */
import { describe, expect, test } from '@jest/globals';
import type { PageRows } from '../../shared/base/model/page.ts';
import type { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import type { PageRequest } from '../../shared/read/query/page-reader.ts';
import { ReadAhead } from '../../shared/read/query/read-ahead.ts';
import { FUNCTION_BUDGET_BYTES, ReadAheadBudget } from '../../shared/read/query/read-ahead-budget.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';

const MIB = 1024 * 1024;
/** A page of 1 MiB of lines, stored. */
const PAGE_BYTES = 150_000;
const PAGES = 800;

interface Batch {
  readonly bytes: number;
  readonly isAhead: boolean;
}

/** Scans all pages. Returns the batches, and the most bytes that were requested and not scanned. */
async function scanned(readAhead: ReadAheadBudget): Promise<{ batches: Batch[]; mostHeld: number }> {
  const batches: Batch[] = [];
  const source = {
    isDistant: true,
    readAhead,
    pages(requests: readonly PageRequest[], _statistics: unknown, isAhead: boolean): Promise<PageRows>[] {
      batches.push({ bytes: requests.length * PAGE_BYTES, isAhead });
      return requests.map(async () => ({}) as PageRows);
    },
  } as unknown as ChunkSource;
  const request = () => ({ page: { storedBytes: PAGE_BYTES } }) as PageRequest;
  const reads = new ReadAhead({
    source,
    statistics: newStatistics(),
    pages: PAGES,
    request: i => (i < PAGES ? request() : undefined),
    endsEarly: false,
  });
  let mostHeld = 0;
  for (let i = 0; i < PAGES; i++) {
    await reads.next(i);
    mostHeld = Math.max(mostHeld, readAhead.heldBytes);
  }
  reads.end();
  expect(readAhead.heldBytes).toBe(0);
  return { batches, mostHeld };
}

describe('batches of a scan over a distant store', () => {
  test.each([
    ['16 MiB with the budget of a store', new ReadAheadBudget(true), 16],
    ['32 MiB with the budget of a function', new ReadAheadBudget(true, FUNCTION_BUDGET_BYTES), 32],
  ])('have up to %s, and a page more', async (_, budget, maxMib) => {
    const { batches, mostHeld } = await scanned(budget);
    const [first, ...later] = batches;
    expect(first.isAhead).toBe(false);
    expect(first.bytes).toBeLessThanOrEqual(16 * MIB + PAGE_BYTES);
    expect(later.every(({ isAhead }) => isAhead)).toBe(true);
    const largest = Math.max(...later.map(({ bytes }) => bytes));
    expect(largest).toBeGreaterThanOrEqual(maxMib * MIB);
    expect(largest).toBeLessThanOrEqual(maxMib * MIB + PAGE_BYTES);
    expect(mostHeld).toBeLessThanOrEqual(64 * MIB + PAGE_BYTES);
    expect(batches.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(PAGES * PAGE_BYTES);
  });
});

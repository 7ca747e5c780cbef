/** Columns of a push count before they grow during decoding. */
import { expect, test } from '@jest/globals';
import { type Steps, UNPACED } from '../../shared/base/model/steps.ts';
import { runCounted } from '../../shared/write/ingest/column-growth.ts';
import { PushBudget, PushMemoryError } from '../../shared/write/ingest/push-budget.ts';
import { PushColumns } from '../../shared/write/ingest/push-columns.ts';

const ENTRIES = 300_000;
const PAIRS_OF_ENTRY = 2;
const STEP = 1_000;
const MIB = 1024 * 1024;

/** Bytes that the columns use now, without those of an empty push. */
const bytesOf = ({ streamOf, pairName }: PushColumns) => streamOf.length * 28 + pairName.length * 12;

function* decode(columns: PushColumns, seen: (columns: PushColumns) => void): Steps<PushColumns> {
  for (let i = 0; i < ENTRIES; i++) {
    columns.addEntry(0, 0, i, 0, 0);
    for (let pair = 0; pair < PAIRS_OF_ENTRY; pair++) columns.addPair(0, 0, 0);
    if (i % STEP > 0) continue;
    yield;
    seen(columns);
  }
  return columns;
}

test('granted memory is at least the size of the columns, at each step', async () => {
  const held = new PushBudget().open('a');
  const columns = new PushColumns(Buffer.alloc(0));
  const before = bytesOf(columns);
  const missing: number[] = [];
  const { columnBytes } = await runCounted(
    decode(columns, ({ streamOf }) => {
      const without = bytesOf(columns) - before - held.bytes;
      if (streamOf.length > 64 && without > 0) missing.push(without);
    }),
    UNPACED,
    held,
  );
  expect(missing).toEqual([]);
  expect(held.bytes).toBe(columnBytes);
  expect(columnBytes).toBeGreaterThanOrEqual(bytesOf(columns) - before);
});

test('a push without memory for its columns waits, and is refused after a while', async () => {
  const budget = new PushBudget({ maxBytes: 8 * MIB, maxWaitMs: 1 });
  await budget.open('other').take(MIB);
  const held = budget.open('a');
  let isClosed = false;
  function* work(): Steps<PushColumns> {
    try {
      return yield* decode(new PushColumns(Buffer.alloc(0)), () => undefined);
    } finally {
      isClosed = true;
    }
  }
  await expect(runCounted(work(), UNPACED, held)).rejects.toThrow(PushMemoryError);
  expect(isClosed).toBe(true);
  expect(held.bytes).toBeLessThanOrEqual(8 * MIB);
  held.release();
  expect(budget.figures).toEqual({ bytes: MIB, waiting: 0 });
});

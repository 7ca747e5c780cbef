import { describe, expect, test } from '@jest/globals';
import { PushColumns } from '../../shared/write/ingest/push-columns.ts';

/** Columns of a body with the given size and number of entries; each contains `seed`. */
function filled(bodyBytes: number, entries: number, seed: number): PushColumns {
  const columns = new PushColumns(Buffer.alloc(bodyBytes));
  for (let i = 0; i < entries; i++) {
    columns.addEntry(seed, i, seed * 1e9 + i, i, i + seed);
    if (i % 3 === 0) columns.addPair(seed, i, i + 1);
  }
  return columns;
}

function expectFilled(columns: PushColumns, entries: number, seed: number): void {
  expect(columns.count).toBe(entries);
  let wrong = 0;
  for (let i = 0; i < entries; i++) {
    const pairs = columns.firstPair[i + 1] - columns.firstPair[i];
    const ok =
      columns.streamOf[i] === seed &&
      columns.day[i] === i &&
      columns.timeOfDay[i] === seed * 1e9 + i &&
      columns.lineStart[i] === i &&
      columns.lineEnd[i] === i + seed &&
      pairs === (i % 3 === 0 ? 1 : 0);
    if (!ok) wrong++;
  }
  expect(wrong).toBe(0);
}

describe('PushColumns', () => {
  test.each([0, 1, 63, 64, 65, 1000, 100_000])('store %d entries, for any expected number', entries => {
    for (const bodyBytes of [0, 500_000]) expectFilled(filled(bodyBytes, entries, 7), entries, 7);
  });

  test('have no memory for metadata until there is some', () => {
    const columns = filled(500_000, 0, 1);
    columns.addEntry(0, 0, 0, 0, 0);
    expect([columns.pairName, columns.pairStart, columns.pairEnd].map(({ length }) => length)).toEqual([
      0, 0, 0,
    ]);
    columns.addPair(3, 4, 5);
    expect([columns.pairName[0], columns.pairStart[0], columns.pairEnd[0]]).toEqual([3, 4, 5]);
  });

  test('are reused after their release, by one push at a time', () => {
    const [first, second] = [filled(500_000, 5000, 1), filled(500_000, 5000, 2)];
    const memory = first.streamOf.buffer;
    first.release();
    expect(first.streamOf.length).toBe(0);
    const [third, fourth] = [filled(500_000, 5000, 3), filled(500_000, 20_000, 4)];
    expect(third.streamOf.buffer).toBe(memory);
    expectFilled(second, 5000, 2);
    expectFilled(third, 5000, 3);
    expectFilled(fourth, 20_000, 4);
  });

  test('start without pairs if there are no entries', () => {
    const used = filled(500_000, 5000, 9);
    used.firstPair[0] = 99;
    used.release();
    expect(new PushColumns(Buffer.alloc(500_000)).firstPair[0]).toBe(0);
  });
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import {
  addFigures,
  addRefused,
  decodeFigures,
  encodeFigures,
  MAX_REASONS,
  newFigures,
  type Sums,
  type UsageFigures,
} from '../../shared/server/usage/figures.ts';

const SUMS = Object.keys(newFigures().sums) as (keyof Sums)[];
const amount = fc.integer({ min: 0, max: 2 ** 40 });
const figures: fc.Arbitrary<UsageFigures> = fc
  .record({
    amounts: fc.array(amount, { minLength: SUMS.length, maxLength: SUMS.length }),
    refused: fc.dictionary(
      fc.constantFrom('rate_limited', 'line_too_long', 'stream_limit'),
      fc.record({ lines: amount, bytes: amount }),
    ),
    hashes: fc.array(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), { maxLength: 100 }),
  })
  .map(({ amounts, refused, hashes }) => {
    const made = newFigures();
    for (const [i, name] of SUMS.entries()) made.sums[name] = amounts[i];
    for (const [reason, entries] of Object.entries(refused)) addRefused(made, reason, entries);
    for (const hash of hashes) made.streams.add(hash);
    return made;
  });

/** All that there is to see of figures. */
function shown({ sums, refused, streams }: UsageFigures) {
  return { sums, refused: Object.fromEntries([...refused].sort()), registers: streams.registers() };
}

test('written figures can be read', () => {
  fc.assert(
    fc.property(figures, made => expect(shown(decodeFigures(encodeFigures(made)))).toEqual(shown(made))),
  );
});

test('adding does not depend on the order', () => {
  fc.assert(
    fc.property(fc.array(figures, { maxLength: 4 }), list => {
      const [forward, backward] = [newFigures(), newFigures()];
      for (const one of list) addFigures(forward, one);
      for (const one of [...list].reverse()) addFigures(backward, one);
      expect(shown(forward)).toEqual(shown(backward));
      expect(forward.sums.lines).toBe(list.reduce((sum, { sums }) => sum + sums.lines, 0));
    }),
  );
});

test('adding does not change the added figures', () => {
  const [to, from] = [newFigures(), newFigures()];
  addRefused(from, 'stream_limit', { lines: 1, bytes: 2 });
  addFigures(to, from);
  addFigures(to, from);
  expect(to.refused.get('stream_limit')).toEqual({ lines: 2, bytes: 4 });
  expect(from.refused.get('stream_limit')).toEqual({ lines: 1, bytes: 2 });
});

test('reasons are bounded', () => {
  const made = newFigures();
  for (let i = 0; i < MAX_REASONS + 10; i++) addRefused(made, `reason ${i}`, { lines: 1, bytes: 1 });
  expect(made.refused.size).toBe(MAX_REASONS + 1);
  expect(made.refused.get('other')).toEqual({ lines: 10, bytes: 10 });
});

test('a record of many streams is small', () => {
  const made = newFigures();
  for (let i = 0; i < 100_000; i++)
    made.streams.add((i * 2_654_435_761 * 1_048_583) % Number.MAX_SAFE_INTEGER);
  expect(encodeFigures(made).length).toBeLessThan(4096);
});

test('sums that an older record lacks are 0', () => {
  const stored = JSON.parse(Buffer.from(encodeFigures(newFigures())).toString());
  delete stored.sums.queryMs;
  stored.sums.lines = 3;
  const { sums } = decodeFigures(Buffer.from(JSON.stringify(stored)));
  expect(sums).toMatchObject({ queryMs: 0, lines: 3 });
});

const good = JSON.parse(Buffer.from(encodeFigures(newFigures())).toString());
test.each([
  ['no JSON', 'x'],
  ['another version', JSON.stringify({ ...good, v: 9 })],
  ['no registers', JSON.stringify({ ...good, streams: undefined })],
  ['registers that are not deflated', JSON.stringify({ ...good, streams: 'AAAA' })],
  ['too few registers', JSON.stringify({ ...good, streams: 'AwA=' })],
])('%s is corrupt', (_, text) => {
  expect(() => decodeFigures(Buffer.from(text))).toThrow(CorruptionError);
});

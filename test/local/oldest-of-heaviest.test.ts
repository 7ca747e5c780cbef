import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { oldestOfHeaviest } from '../../local/oldest-of-heaviest.ts';

/** `a1 a2 b1`: occupants in the order of their beginning. */
const occupants = (text: string) => text.split(' ').map(name => ({ name, address: name[0] }));
const chosen = (text: string, count: number) =>
  oldestOfHeaviest(occupants(text), count)
    .map(({ name }) => name)
    .join(' ');

// [occupants, count, want]
test.each<[string, number, string]>([
  ['a1 a2 b1', 1, 'a1'],
  ['b1 a1 a2', 1, 'a1'],
  ['a1 b1', 1, 'a1'],
  ['a1 b1 a2 b2', 2, 'a1 b1'],
  ['b1 a1 a2 a3', 2, 'a1 a2'],
  ['b1 a1 a2 a3', 3, 'a1 a2 b1'],
  ['a1', 5, 'a1'],
  ['a1', 0, ''],
])('%s: %i', (text, count, want) => {
  expect(chosen(text, count)).toBe(want);
});

test('an address that has no more than the others have left loses none before them', () => {
  const addresses = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 });
  fc.assert(
    fc.property(addresses, fc.nat(60), (list, count) => {
      const all = list.map((address, i) => ({ address, i }));
      const closed = oldestOfHeaviest(all, count);
      expect(closed).toHaveLength(Math.min(count, all.length));
      const left = all.filter(one => !closed.includes(one));
      const countOf = (some: typeof all, address: string) =>
        some.filter(one => one.address === address).length;
      const most = Math.max(0, ...left.map(({ address }) => countOf(left, address)));
      for (const { address, i } of closed) {
        // A holder that lost one had at least as many before as any holder has now.
        expect(countOf(left, address) + 1).toBeGreaterThanOrEqual(most);
        for (const other of left) if (other.address === address) expect(other.i).toBeGreaterThan(i);
      }
    }),
  );
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jsonNamesFit } from '../../../shared/read/insight/detected/json-names.ts';
import { walkJsonPaths } from '../../../shared/read/insight/detected/json-paths.ts';

const fits = (line: string, maxBytes: number) => {
  const source = Buffer.from(line);
  return jsonNamesFit(source, 0, source.length, maxBytes);
};

// Each key counts with the path before it and one byte for what joins them.
test.each<[string, number]>([
  ['{"abc":1}', 4],
  ['{"abc":{"de":1,"f":2}}', 4 + 7 + 6],
  ['{"a":{"b":{"c":1}},"d":2}', 2 + 4 + 6 + 2],
  ['{"a":[{"long key":1}],"b":{"c":"{"}}', 2 + 2 + 4],
  ['{ "a" : "b:c" }', 2],
  // A word with a quote in it opens no string.
  ['{"a":1","b":{"c":2"}}', 2 + 2 + 4],
])('%s', (line, total) => {
  expect(fits(line, total)).toBe(true);
  expect(fits(line, total - 1)).toBe(false);
});

test.each(['', '{}', 'x', '[{"a":1}]', '"a":1', '}{"a":1}', '{"a', '{"a":[', '{"', '1'])(
  'counts nothing, or only the part before the end, in %j',
  line => {
    expect(fits(line, 2)).toBe(true);
  },
);

test('names that the walk finds never take more than was let through', () => {
  const value = fc.letrec(tie => ({
    tree: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.oneof(fc.jsonValue(), tie('tree')), {
      depthIdentifier: 'tree',
    }),
  })).tree;
  const junk = fc.string({ unit: fc.constantFrom('{', '}', '"', '":', '{"', ',"', '[', ']', 'a', '1', ' ') });
  const line = fc.oneof(
    value.map(tree => JSON.stringify(tree)),
    junk,
  );
  fc.assert(
    fc.property(line, fc.nat(60), (text, maxBytes) => {
      const source = Buffer.from(text);
      let total = 0;
      const visit = (_name: string, path: readonly string[]) => {
        total += Buffer.byteLength(path.join('_')) + 1;
        return true;
      };
      walkJsonPaths(source, 0, source.length, { collides: () => false, visit });
      if (total > maxBytes && !text.includes('\\')) expect(fits(text, maxBytes)).toBe(false);
    }),
  );
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { prettyPrint } from '../../shared/language/logql/pretty.ts';
import { formatExpr } from '../../shared/language/logql/printer.ts';
import { trees } from './trees.ts';

describe('printed queries parse to the same tree (difference D6)', () => {
  test.each([
    ['canonical', formatExpr],
    ['over lines', prettyPrint],
  ])('%s', (_name, print) => {
    fc.assert(
      fc.property(trees, tree => {
        const text = print(tree);
        expect(parseQuery(text)).toEqual(tree);
        expect(print(parseQuery(text))).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test('no line of the layout ends in a space', () => {
    fc.assert(
      fc.property(trees, tree => {
        // A line break inside a printed string is always an escape or inside a raw expression that the tree holds.
        for (const line of prettyPrint(tree).split('\n')) expect(line).toBe(line.trimEnd());
      }),
      { numRuns: 200 },
    );
  });
});

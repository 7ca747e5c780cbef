import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withPatternFilter } from '../../ui/src/logql/edit.ts';
import {
  NOTHING_CHOSEN,
  restOf,
  selectionOf,
  selectorText,
  toggled,
  withoutLabel,
  withSelector,
} from '../../ui/src/logql/selection.ts';

const read = (query: string) => {
  const { values, others } = selectionOf(query);
  return [Object.fromEntries(values), others];
};

describe('a selector as selected values', () => {
  test.each([
    ['', {}, []],
    ['{', {}, []],
    ['{}', {}, []],
    ['{a="x"}', { a: ['x'] }, []],
    ['sum(rate({a="x", b=~"y|z"} |= "q" [5m]))', { a: ['x'], b: ['y', 'z'] }, []],
    ['{a=~"x\\\\.y|z"}', { a: ['x.y', 'z'] }, []],
    ['{a=`x`} # {b="y"}', { a: ['x'] }, []],
    ['{a!="x", b=~"y.*", c=""}', {}, ['a!="x"', 'b=~"y.*"', 'c=""']],
    ['{a=~"x|", b=~"x|x", c=~"\\\\d"}', {}, ['a=~"x|"', 'b=~"x|x"', 'c=~"\\\\d"']],
    ['{a="x", a="y"}', { a: ['x'] }, ['a="y"']],
    ['{a="x", b=', { a: ['x'] }, []],
  ])('%s', (query, values, others) => expect(read(query)).toEqual([values, others]));

  test('is read as it was written, for any values', () => {
    const label = fc.stringMatching(/^[a-z_]{1,8}$/);
    const chosen = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(label, chosen), { selector: ([name]) => name, maxLength: 4 }),
        pairs => {
          const values = new Map(pairs);
          expect(selectionOf(selectorText({ values, others: [] }))).toEqual({ values, others: [] });
        },
      ),
      { numRuns: 100 },
    );
  });

  test('a click selects, another one deselects', () => {
    const one = toggled(NOTHING_CHOSEN, 'a', 'x');
    const two = toggled(one, 'a', 'y');
    expect(selectorText(two)).toBe('{a=~"x|y"}');
    expect(toggled(two, 'a', 'y')).toEqual(one);
    expect(toggled(one, 'a', 'x')).toEqual(NOTHING_CHOSEN);
    expect(selectorText(withoutLabel(toggled(two, 'b', 'z'), 'a'))).toBe('{b="z"}');
  });

  test.each([
    ['', '{a="x"}', '{a="x"}', ''],
    ['{b="y"} |= "q"', '{a="x"}', '{a="x"} |= "q"', '|= "q"'],
    ['rate({b="y"}[5m])', '{a="x"}', 'rate({a="x"}[5m])', '[5m])'],
    ['rate(', '{a="x"}', '{a="x"}', ''],
  ])('%s with another selector', (query, selector, wanted, rest) => {
    expect(withSelector(query, selector)).toBe(wanted);
    expect(restOf(query)).toBe(rest);
  });
});

describe('a filter for a pattern', () => {
  test.each([
    ['{a="x"}', 'user <_> left', '|>', '{a="x"} |> "user <_> left"'],
    ['{a="x"} | json', 'user <_> left', '!>', '{a="x"} | json !> "user <_> left"'],
    ['{a="x"}', '<_>"msg":"hi"<_>', '|>', '{a="x"} |> `<_>"msg":"hi"<_>`'],
    ['{a="x"}', '"`<_>', '|>', '{a="x"} |> "\\"`<_>"'],
    ['rate({a="x"}[5m])', 'b <_>', '|>', 'rate({a="x"} |> "b <_>" [5m])'],
    ['{a="x"} |> "b <_>"', 'b <_>', '|>', '{a="x"} |> "b <_>"'],
  ] as const)('%s %s', (query, pattern, op, wanted) =>
    expect(withPatternFilter(query, pattern, op)).toBe(wanted),
  );
});

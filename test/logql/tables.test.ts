import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { makeTables } from '../../scripts/lalr.ts';
import { tablesText } from '../../scripts/make-logql-tables.ts';

test('tables.ts equals the tables of the grammar', () => {
  const checkedIn = readFileSync(new URL('../../shared/language/logql/tables.ts', import.meta.url), 'utf8');
  expect(checkedIn).toBe(tablesText());
});

describe('the table generator', () => {
  const tokens = ['$end', 'n', 'plus', 'times', 'power', 'next'];
  const [, n, plus, times, power, next] = tokens.keys();
  const rules = `
e : e plus e = plus
e : e times e = times
e : e power e = power
e : e next e = next
e : n = n`;
  const tables = makeTables({
    start: 'e',
    tokens,
    rules,
    precedence: [
      { side: 'left', tokens: 'plus' },
      { side: 'left', tokens: 'times' },
      { side: 'right', tokens: 'power' },
    ],
  });

  /** Action of the state after `e <operator> e` for a token: the rule to reduce, or a shift. */
  function decision(operator: number, token: number): string {
    let state = 0;
    for (const symbol of ['e', operator, 'e']) {
      const moves = typeof symbol === 'number' ? tables.shifts[state] : tables.gotos[state];
      state = moves.get(typeof symbol === 'number' ? symbol : tables.nonterminals.indexOf(symbol))!;
    }
    if (tables.shifts[state].has(token)) return 'shift';
    return tables.rules[tables.reductions[state].get(token) ?? tables.defaults[state]].action;
  }

  test.each([
    [plus, plus, 'plus'],
    [plus, times, 'shift'],
    [plus, power, 'shift'],
    [times, plus, 'times'],
    [times, times, 'times'],
    [power, power, 'shift'],
    [power, times, 'power'],
    // A token without precedence is shifted.
    [plus, next, 'shift'],
    [next, plus, 'shift'],
    [next, next, 'shift'],
    [plus, 0, 'plus'],
  ])('operator %i, then %i', (operator, token, want) => {
    expect(decision(operator, token)).toBe(want);
  });

  test('accepts only at the end', () => {
    const state = tables.gotos[0].get(tables.nonterminals.indexOf('e'))!;
    expect(tables.rules[tables.defaults[state]].action).toBe('accept');
    expect(tables.shifts[0].get(n)).toBeDefined();
  });

  test('lookaheads are those of LALR(1): a grammar that SLR cannot decide', () => {
    const assignment = makeTables({
      start: 's',
      tokens: ['$end', 'equals', 'star', 'id'],
      rules: 's : l equals r = assign\ns : r = value\nl : star r = content\nl : id = name\nr : l = same',
      precedence: [],
    });
    const afterL = assignment.gotos[0].get(assignment.nonterminals.indexOf('l'))!;
    expect(assignment.shifts[afterL].has(1)).toBe(true);
    expect(assignment.rules[assignment.defaults[afterL]].action).toBe('same');
  });

  test('a rule with an unknown name is refused', () => {
    expect(() => makeTables({ start: 'a', tokens: ['$end'], rules: 'a : b = x', precedence: [] })).toThrow(
      'neither a token nor a rule: b',
    );
    expect(() => makeTables({ start: 'a', tokens: ['$end'], rules: 'a b', precedence: [] })).toThrow(
      'not a rule: a b',
    );
  });
});

/**
 * Writes `shared/language/logql/tables.ts`, the parser's tables, from `shared/language/logql/grammar.ts`. Run
 * it after changing the grammar: `node scripts/make-logql-tables.ts`. A test compares its output.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PRECEDENCE, RULES, START } from '../shared/language/logql/grammar.ts';
import { TOKENS } from '../shared/language/logql/token-names.ts';
import { makeTables } from './lalr.ts';

const TARGET = new URL('../shared/language/logql/tables.ts', import.meta.url);

/**
 * Pairs `key.value` in base 36 separated by spaces, and rows by commas; a repeated row is written as `=n`.
 */
function rowsText(rows: readonly ReadonlyMap<number, number>[]): string {
  const seen = new Map<string, number>();
  return rows
    .map((row, i) => {
      const text = [...row]
        .sort(([a], [b]) => a - b)
        .map(([key, value]) => `${key.toString(36)}.${value.toString(36)}`)
        .join(' ');
      const same = seen.get(text);
      if (text !== '' && same !== undefined) return `=${same.toString(36)}`;
      seen.set(text, i);
      return text;
    })
    .join(',');
}

/** Text of `shared/language/logql/tables.ts`. */
export function tablesText(): string {
  const tables = makeTables({ start: START, tokens: TOKENS, rules: RULES, precedence: PRECEDENCE });
  const names = [...new Set(tables.rules.map(rule => rule.action))];
  const numbers = (values: readonly number[]) => values.map(value => value.toString(36)).join(' ');
  return `/**
 * Made by scripts/make-logql-tables.ts from grammar.ts: do not edit. Numbers are in base 36. Rows: one per state,
 * split by commas; \`key.value\` pairs, or \`=n\` for a row equal to row n. \`automaton.ts\` reads them.
 */
export const STATE_COUNT = ${tables.shifts.length};
export const NONTERMINAL_COUNT = ${tables.nonterminals.length};
/** Token and next state. */
export const SHIFTS =
  '${rowsText(tables.shifts)}';
/** Token and rule, where the rule is not the state's default. */
export const REDUCTIONS =
  '${rowsText(tables.reductions)}';
/** By state: the rule that is reduced whatever the token, or -1. Rule 0 accepts. */
export const DEFAULTS =
  '${numbers(tables.defaults)}';
/** Nonterminal and next state. */
export const GOTOS =
  '${rowsText(tables.gotos)}';
/** By rule: its nonterminal, its length, its action. */
export const RULE_NONTERMINALS =
  '${numbers(tables.rules.map(rule => rule.left))}';
export const RULE_LENGTHS =
  '${numbers(tables.rules.map(rule => rule.right.length))}';
export const RULE_ACTIONS =
  '${numbers(tables.rules.map(rule => names.indexOf(rule.action)))}';
export const ACTION_NAMES =
  '${names.join(' ')}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TARGET, tablesText());

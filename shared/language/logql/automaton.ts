/**
 * Runs the LALR(1) tables: shifts and reductions over an explicit stack, never recursion. Error messages are
 * those of yacc. They list the tokens that the state after default reductions could shift, if they are at
 * most four (docs/dev/logql-semantics.md#expected-tokens).
 */
import { ParseError } from './errors.ts';
import { createLexer } from './lexer.ts';
import { MAX_PARSER_STACK, TOO_DEEP } from './query-limits.ts';
import {
  ACTION_NAMES,
  DEFAULTS,
  GOTOS,
  NONTERMINAL_COUNT,
  REDUCTIONS,
  RULE_ACTIONS,
  RULE_LENGTHS,
  RULE_NONTERMINALS,
  SHIFTS,
  STATE_COUNT,
} from './tables.ts';
import { TOKEN_TEXTS, TOKENS } from './token-names.ts';

/** Computes the value of a rule from the values of its symbols, which start at `values[base]`. */
type Action<C> = (values: readonly unknown[], base: number, context: C) => unknown;
export type Actions<C> = Readonly<Record<string, Action<C>>>;

const MAX_EXPECTED = 4;
const TOKEN_COUNT = TOKENS.length;

/**
 * Reads rows into one flat table of `width` columns; 0 means no entry (state 0 and rule 0 are never targets).
 */
function readRows(text: string, width: number): Int16Array {
  const table = new Int16Array(STATE_COUNT * width);
  text.split(',').forEach((row, state) => {
    if (row.startsWith('=')) {
      const same = Number.parseInt(row.slice(1), 36) * width;
      table.copyWithin(state * width, same, same + width);
    } else if (row !== '') {
      for (const pair of row.split(' ')) {
        const [key, value] = pair.split('.');
        table[state * width + Number.parseInt(key, 36)] = Number.parseInt(value, 36);
      }
    }
  });
  return table;
}

function readNumbers(text: string): Int16Array {
  return Int16Array.from(text.split(' '), value => Number.parseInt(value, 36));
}

const shifts = readRows(SHIFTS, TOKEN_COUNT);
const reductions = readRows(REDUCTIONS, TOKEN_COUNT);
const gotos = readRows(GOTOS, NONTERMINAL_COUNT);
const defaults = readNumbers(DEFAULTS);
const ruleNonterminals = readNumbers(RULE_NONTERMINALS);
const ruleLengths = readNumbers(RULE_LENGTHS);
const ruleActions = readNumbers(RULE_ACTIONS);
const actionNames = ACTION_NAMES.split(' ');

/** States that reduce for any token; they do so before the next token is read. */
const EAGER = Uint8Array.from({ length: STATE_COUNT }, (_, state) => {
  const row = state * TOKEN_COUNT;
  const plain = (table: Int16Array) => table.subarray(row, row + TOKEN_COUNT).every(value => value === 0);
  return defaults[state] > 0 && plain(shifts) && plain(reductions) ? 1 : 0;
});

/** Prepares actions for `runAutomaton`, one for every rule. */
export function bindActions<C>(actions: Actions<C>): readonly Action<C>[] {
  return Array.from(ruleActions, number => {
    const name = actionNames[number];
    const action = actions[name] ?? (name === 'accept' ? actions.same : undefined);
    if (action === undefined) throw new Error(`unknown action ${name}`);
    return action;
  });
}

/** Returns the value of the start symbol. Throws a ParseError. */
export function runAutomaton<C>(text: string, actions: readonly Action<C>[], context: C): unknown {
  const lexer = createLexer(text);
  const states: number[] = [0];
  const values: unknown[] = [undefined];
  let read = false;
  for (;;) {
    const state = states[states.length - 1];
    if (!read && EAGER[state] === 0) {
      lexer.next();
      read = true;
    }
    const cell = state * TOKEN_COUNT + lexer.token;
    const target = read ? shifts[cell] : 0;
    if (target > 0) {
      if (states.length >= MAX_PARSER_STACK) throw new ParseError(TOO_DEEP, lexer.position);
      states.push(target);
      values.push(lexer.value);
      read = false;
      continue;
    }
    const rule = (read && reductions[cell]) || defaults[state];
    if (rule === 0 && lexer.token === 0) return values[1];
    if (rule <= 0) throw new ParseError(syntaxMessage(state, lexer.token), lexer.position);
    const base = states.length - ruleLengths[rule];
    const value = actions[rule](values, base, context);
    states.length = base;
    values.length = base;
    states.push(gotos[states[base - 1] * NONTERMINAL_COUNT + ruleNonterminals[rule]]);
    values.push(value);
  }
}

function syntaxMessage(state: number, token: number): string {
  const expected: string[] = [];
  for (let candidate = 1; candidate < TOKEN_COUNT; candidate++) {
    if (shifts[state * TOKEN_COUNT + candidate] > 0) expected.push(TOKEN_TEXTS[candidate]);
  }
  const list =
    expected.length > 0 && expected.length <= MAX_EXPECTED ? `, expecting ${expected.join(' or ')}` : '';
  return `syntax error: unexpected ${TOKEN_TEXTS[token]}${list}`;
}

/** The grammar of the store, in the page: tells whether a text is LogQL. Meaning is checked by the store alone. */
import { runAutomaton } from '../../../shared/language/logql/automaton.ts';
import { ParseError } from '../../../shared/language/logql/errors.ts';
import { RULE_ACTIONS } from '../../../shared/language/logql/tables.ts';
import { fillVariables } from './variables.ts';

/** No tree is built, so a rule has no value. */
const NO_ACTIONS = RULE_ACTIONS.split(' ').map(() => () => undefined);
/** Longer texts are refused by the store (MAX_QUERY_BYTES). */
const MAX_CHARACTERS = 131_072;
/**
 * Escapes, those of bytes in a group: the lexer decodes bytes with a class of Node.js, and to the grammar a letter is as good as
 * a byte.
 */
const ESCAPE = /\\(?:(x[0-9a-fA-F]{2}|[0-3][0-7]{2})|[\s\S])/g;
/** Any window does. */
const VARIABLES = { rangeMs: 3_600_000, stepMs: 60_000 };

/** Variables of dashboards such as `$__auto` count as filled in. */
export function isLogql(text: string): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  try {
    runAutomaton(withoutBytes(fillVariables(text, VARIABLES)), NO_ACTIONS, undefined);
    return true;
  } catch (error) {
    if (error instanceof ParseError) return false;
    throw error;
  }
}

function withoutBytes(text: string): string {
  return text.replace(ESCAPE, (whole: string, byte: string | undefined) =>
    byte === undefined ? whole : 'x',
  );
}

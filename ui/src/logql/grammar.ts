/** Checks if a text is LogQL, with the store's grammar. Only the store checks its meaning. */
import { MS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import { runAutomaton } from '../../../shared/language/logql/automaton.ts';
import { ParseError } from '../../../shared/language/logql/errors.ts';
import { RULE_ACTIONS } from '../../../shared/language/logql/tables.ts';
import { fillVariables } from './variables.ts';

/** Rules have no values, because no tree is built. */
const NO_ACTIONS = RULE_ACTIONS.split(' ').map(() => () => undefined);
/** Maximum length; the store refuses longer queries (MAX_QUERY_BYTES). */
const MAX_CHARACTERS = 131_072;
/**
 * Escapes, with byte escapes in a group. The lexer decodes bytes with a Node.js class; the grammar accepts a
 * letter in place of a byte.
 */
const ESCAPE = /\\(?:(x[0-9a-fA-F]{2}|[0-3][0-7]{2})|[\s\S])/g;
/** Any window works. */
const VARIABLES = { rangeMs: MS_PER_HOUR, stepMs: 60_000 };

/** True if the text is LogQL. Dashboard variables such as `$__auto` are replaced first. */
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

/** Board variables in queries: replaces `$name`, `${name}` and `${name:regex}` with the chosen values. */
import type { BoardVariable } from '../../../shared/base/model/board.ts';

export type Chosen = Readonly<Record<string, readonly string[]>>;

/** Value that selects all values; also used if none is chosen. */
const ALL = '.+';
/** Prefix of URL parameters, such as `v.service=a`. Several values are joined by line feeds. */
export const PARAM_PREFIX = 'v.';

/** Chosen values from the URL, else the board's defaults. */
export function chosenOf(
  variables: readonly BoardVariable[],
  params: Readonly<Record<string, string>>,
): Chosen {
  return Object.fromEntries(
    variables.map(({ name, chosen }) => {
      const given = params[PARAM_PREFIX + name];
      return [name, given === undefined ? chosen : given.split('\n').filter(value => value !== '')];
    }),
  );
}

/** Replaces board variables. Unknown variables stay: `$__interval` is replaced later. */
export function fillBoardVariables(
  query: string,
  variables: readonly BoardVariable[],
  chosen: Chosen,
): string {
  return query.replace(
    /\$(?:([A-Za-z][A-Za-z0-9_]*)|\{([A-Za-z][A-Za-z0-9_]*)(?::[a-z]+)?\})/g,
    (whole, plain: string | undefined, braced: string | undefined, at: number) => {
      const variable = variables.find(({ name }) => name === (plain ?? braced));
      if (variable === undefined) return whole;
      return textOf(variable, chosen[variable.name] ?? [], quoteAt(query, at));
    },
  );
}

function textOf(variable: BoardVariable, values: readonly string[], quote: string): string {
  if (values.length === 0) return variable.several ? escaped(ALL, quote) : '';
  if (!variable.several) return escaped(values[0], quote);
  const alternatives = values.map(value => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return escaped(alternatives.length === 1 ? alternatives[0] : `(${alternatives.join('|')})`, quote);
}

/**
 * Escapes a value. Quotes and backslashes are escaped between double quotes; a text in backticks cannot
 * contain a backtick.
 */
function escaped(value: string, quote: string): string {
  if (quote === '"') return value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return quote === '`' ? value.replaceAll('`', '') : value;
}

/** Quote character of the string around an offset; empty outside of strings. */
function quoteAt(query: string, end: number): string {
  let quote = '';
  for (let i = 0; i < end; i++) {
    const mark = query[i];
    if (quote === '') quote = mark === '"' || mark === '`' ? mark : '';
    else if (quote === '"' && mark === '\\') i++;
    else if (mark === quote) quote = '';
  }
  return quote;
}

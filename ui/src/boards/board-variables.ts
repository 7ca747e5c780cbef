/** Variables of a board in queries: `$name`, `${name}` and `${name:regex}` are replaced by the chosen values. */
import type { BoardVariable } from '../../../shared/base/model/board.ts';

export type Chosen = Readonly<Record<string, readonly string[]>>;

/** Stands for all values, and for none that is chosen. */
export const ALL = '.+';
/** In the address: `v.service=a`, once for each value, joined by line feeds. */
export const PARAM_PREFIX = 'v.';

/** The values of the address, or else those of the board. */
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

/** Unknown variables stay as they are: `$__interval` is filled in later. */
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

/** Between double quotes, quotes and backslashes are escaped; a text in backticks cannot hold a backtick. */
function escaped(value: string, quote: string): string {
  if (quote === '"') return value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return quote === '`' ? value.replaceAll('`', '') : value;
}

/** The quote of the text that an offset is in; empty outside of texts. */
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

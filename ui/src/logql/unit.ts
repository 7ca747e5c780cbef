/** Unit of a metric query's values, as far as its functions determine it. */
import { tokensOf } from './tokens.ts';

export type Unit = 'bytes' | 'seconds' | 'number' | 'percent';

/** Functions whose value counts something, whatever they are computed from. */
const COUNTS = new Set([
  'count',
  'count_over_time',
  'rate',
  'absent_over_time',
  'stdvar',
  'stdvar_over_time',
]);
const OPERATORS = new Set(['/', '*', '^', '%']);

/** Unit to use: `auto`, or the unit that the user chose. */
export function chosenUnit(choice: Unit | 'auto', queries: readonly string[]): Unit {
  if (choice !== 'auto') return choice;
  const units = new Set(queries.map(unitOf));
  return units.size === 1 ? [...units][0] : 'number';
}

export function unitOf(query: string): Unit {
  const tokens = tokensOf(query).filter(({ kind }) => kind !== 'comment');
  const calls = tokens.filter(({ kind }, i) => kind === 'word' && tokens[i + 1]?.text === '(');
  const texts = tokens.filter(({ kind }) => kind === 'mark').map(({ text }) => text);
  // A ratio has no unit, and a product has another one.
  if (texts.some(text => OPERATORS.has(text)) || calls.some(({ text }) => text === 'count')) return 'number';
  if (calls.some(({ text }) => text === 'bytes_rate' || text === 'bytes_over_time')) return 'bytes';
  if (calls.some(({ text }) => COUNTS.has(text))) {
    // `rate` of an unwrapped value is that value per second.
    if (!tokens.some(({ text }) => text === 'unwrap')) return 'number';
  }
  const unwrap = tokens.findIndex(({ text }) => text === 'unwrap');
  const conversion = unwrap === -1 ? undefined : tokens[unwrap + 1]?.text;
  if (conversion === 'bytes') return 'bytes';
  return conversion === 'duration' || conversion === 'duration_seconds' ? 'seconds' : 'number';
}

/** Go's `strconv.ParseFloat(s, 64)` and `FormatFloat`: numbers in label values, literals and responses. */
import { quote } from './quote.ts';

// Decimal syntax. Each digit matches in only one way: otherwise a long run of digits before a letter would
// backtrack for a very long time.
const DECIMAL = /^[+-]?(\d+(_\d+)*(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)([eE][+-]?\d+)?$/;
const HEX = /^([+-]?)0[xX]_?([0-9a-fA-F_]*)(\.([0-9a-fA-F_]*))?[pP]([+-]?\d+)$/;
const WORDS = new Map<string, number>([
  ['nan', Number.NaN],
  ['inf', Infinity],
  ['+inf', Infinity],
  ['-inf', -Infinity],
  ['infinity', Infinity],
  ['+infinity', Infinity],
  ['-infinity', -Infinity],
]);
const PLAIN = /^-?\d{1,15}(\.\d{1,15})?$/;

/**
 * Returns the number, or undefined if Go's ParseFloat returns `invalid syntax`. Underscores are allowed as in
 * Go literals.
 */
export function parseGoFloat(text: string): number | undefined {
  if (PLAIN.test(text)) return Number(text);
  const word = WORDS.get(text.toLowerCase());
  if (word !== undefined) return word;
  if (DECIMAL.test(text)) return Number(text.replaceAll('_', ''));
  const hex = HEX.exec(text);
  if (hex === null) return undefined;
  const whole = hex[2].replaceAll('_', '');
  const fraction = (hex[4] ?? '').replaceAll('_', '');
  if (whole === '' && fraction === '') return undefined;
  let mantissa = 0;
  for (const digit of whole + fraction) mantissa = mantissa * 16 + Number.parseInt(digit, 16);
  const value = mantissa * 2 ** (Number(hex[5]) - 4 * fraction.length);
  return hex[1] === '-' ? -value : value;
}

/** Returns Go's error text for a text that is not a number. */
export function parseFloatError(text: string): string {
  return `strconv.ParseFloat: parsing ${quote(text)}: invalid syntax`;
}

/**
 * Formats the shortest decimal without an exponent (Go's `'f', -1`), for sample values in responses: also
 * `NaN`, `+Inf`, `-Inf`.
 */
export function formatPlain(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign, first, rest = '', exponentText] = match;
  const digits = first + rest;
  const exponent = Number(exponentText);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.padEnd(exponent + 1, '0')}`;
}

/** Line filters (docs/dev/logql-semantics.md#line-filters; difference D2 no longer exists). */
import type { LineFilterStage, LineOperand } from '../../../shared/language/logql/ast.ts';
import { type Bytes, toBytes } from './bytes.ts';
import { passesPattern } from './captures.ts';
import { addressMatcher, containsAddress } from './ip.ts';
import { regexOf } from './regex.ts';

/**
 * Handwritten meanings of expressions with an empty alternative: the generator uses no other ones. All lines
 * pass `''`; U+FFFD represents a text.
 */
export const EMPTY_ALTERNATIVES: ReadonlyMap<string, string> = new Map([
  ['', ''],
  ['.*', ''],
  ['|', ''],
  ['error|', 'error'],
  ['|timeout|', 'timeout'],
  ['(error|)', 'error'],
  ['((error|)|timeout)', 'error|timeout'],
  ['(?i)ERROR|', '(?i)ERROR'],
  ['error|.*', 'error'],
  ['error.*|timeout|', 'error|timeout'],
  ['error|err|', 'err'],
  ['.+|', '(?s:.)'],
  ['a|b|', ''],
  ['error\\d|', ''],
  ['^error|', ''],
  ['err.r|', ''],
  ['(error|)(timeout|)', ''],
  ['[^e]|', ''],
]);

/** Expressions that are only a text with U+FFFD: they search for its bytes. */
export const RAW_TEXTS: ReadonlyMap<string, string> = new Map([
  ['\\x{FFFD}', '\ufffd'],
  ['\\x{FFFD}.*', '\ufffd'],
]);

export function passesLineFilter({ op, operand, alternatives }: LineFilterStage, line: Bytes): boolean {
  const negate = op[0] === '!';
  const kind = op[1];
  const operands = [operand, ...alternatives];
  // Next to others, an operand that accepts every line does not count.
  const counting = operands.filter(one => !acceptsAll(one, kind));
  const accepted = counting.length === 0 || counting.some(one => accepts(one, kind, line));
  return accepted !== negate;
}

function acceptsAll({ kind, value }: LineOperand, operator: string): boolean {
  if (kind === 'ip') return false;
  if (operator === '=') return value === '';
  // `a|b|` accepts every line too, but is an expression.
  return operator === '~' && ['', '.*', '|'].includes(value);
}

function accepts({ kind, value }: LineOperand, operator: string, line: Bytes): boolean {
  if (kind === 'ip') return containsAddress(addressMatcher(value), line);
  switch (operator) {
    case '=':
      return line.includes(toBytes(value));
    case '>':
      return passesPattern(value, line);
    default: {
      const raw = RAW_TEXTS.get(value);
      if (raw !== undefined) return line.includes(toBytes(raw));
      if (value === '.+') return line !== '';
      return regexOf(EMPTY_ALTERNATIVES.get(value) ?? value).test(line);
    }
  }
}

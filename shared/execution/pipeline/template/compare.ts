/**
 * `eq ne lt le gt ge`: only values of one basic kind can be compared, never an int with a string or a
 * float64.
 */
import { compareUtf8 } from '../../../base/model/bytes.ts';
import { CallError } from './error.ts';
import { valueText } from './print.ts';
import { sprintf } from './printf.ts';
import { GoTime } from './time.ts';
import { type GoInt, kindOf, typeName, type Value, type ValueKind } from './values.ts';

const BASIC = new Set<ValueKind>(['string', 'bool', 'float', 'int', 'uint']);

function isInteger(kind: ValueKind): boolean {
  return kind === 'int' || kind === 'uint';
}

/** Returns whether `first` equals one of the others. */
export function equalsAny(first: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new CallError('missing argument for comparison');
  for (const other of others) if (equals(first, other)) return true;
  return false;
}

function equals(a: Value, b: Value): boolean {
  const kindA = kindOf(a);
  const kindB = kindOf(b);
  if (isInteger(kindA) && isInteger(kindB)) return (a as GoInt).value === (b as GoInt).value;
  const basicA = BASIC.has(kindA);
  const basicB = BASIC.has(kindB);
  if (basicA || basicB) {
    if (kindA === kindB) return a === b;
    if (kindA === 'invalid' || kindB === 'invalid') return false;
    throw incompatible(a, b);
  }
  return equalsOther(a, b);
}

/** Compares values without a basic kind: nil, times, lists, maps. */
function equalsOther(a: Value, b: Value): boolean {
  const nilA = a === undefined || a === null;
  const nilB = b === undefined || b === null;
  if (!nilA && !nilB && typeName(a) !== typeName(b)) {
    throw new CallError(
      `non-comparable types ${sprintf('%s', [a])}: ${typeName(a)}, ${typeName(b)}: ${valueText(b)}`,
    );
  }
  if (nilA || nilB) return nilA && nilB;
  if (a instanceof GoTime && b instanceof GoTime) return a.ns === b.ns && a.zone === b.zone;
  throw new CallError(`non-comparable type ${sprintf('%s', [b])}: ${typeName(b)}`);
}

function incompatible(a: Value, b: Value): CallError {
  return new CallError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
}

export function isLess(a: Value, b: Value): boolean {
  const kindA = kindOf(a);
  const kindB = kindOf(b);
  if (!BASIC.has(kindA) || !BASIC.has(kindB)) throw new CallError('invalid type for comparison');
  if (isInteger(kindA) && isInteger(kindB)) return (a as GoInt).value < (b as GoInt).value;
  if (kindA !== kindB) throw incompatible(a, b);
  if (kindA === 'bool') throw new CallError('invalid type for comparison');
  if (typeof a === 'string') return compareUtf8(a, b as string) < 0;
  return (a as number) < (b as number);
}

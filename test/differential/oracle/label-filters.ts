/** Label filters (docs/dev/logql-semantics.md#label-filters; always anchored, difference D1; sizes are exact, difference D21). */
import type { CompareOp, LabelFilter, Matcher } from '../../../shared/language/logql/ast.ts';
import { type Bytes, toBytes } from './bytes.ts';
import { durationOf, numberOf, sizeOf } from './conversions.ts';
import { addressMatcher, containsAddress } from './ip.ts';
import { type EntryLabels, ERROR } from './labels.ts';
import { wholeRegex } from './regex.ts';

export function passesLabelFilter(filter: LabelFilter, labels: EntryLabels): boolean {
  switch (filter.kind) {
    case 'and': {
      // Both sides run: the right one may set an error.
      const left = passesLabelFilter(filter.left, labels);
      return passesLabelFilter(filter.right, labels) && left;
    }
    case 'or':
      return passesLabelFilter(filter.left, labels) || passesLabelFilter(filter.right, labels);
    case 'string': {
      const { name } = filter.matcher;
      const value = name === ERROR ? labels.error : (labels.get(toBytes(name)) ?? '');
      return matches(filter.matcher, value);
    }
    case 'ip': {
      if (labels.error !== '') return true;
      const value = labels.get(toBytes(filter.name));
      if (value === undefined) return false;
      return containsAddress(addressMatcher(filter.pattern), value) === (filter.op === '=');
    }
  }
  const value = labels.get(toBytes(filter.name));
  if (value === undefined) return false;
  const fail = (details: Bytes) => {
    if (labels.error === '') {
      labels.error = 'LabelFilterErr';
      labels.details = details;
    }
    return true;
  };
  if (filter.kind === 'duration') {
    const { ns, error } = { ns: 0n, ...durationOf(value) };
    return error !== undefined ? fail(error) : compare(ns, filter.op, filter.ns);
  }
  const converted = filter.kind === 'number' ? numberOf(value) : sizeOf(value);
  if (converted.error !== undefined) return fail(converted.error);
  return compare(converted.value, filter.op, filter.kind === 'number' ? filter.value : filter.bytes);
}

export function matches({ op, value }: Matcher, text: Bytes): boolean {
  switch (op) {
    case '=':
      return text === toBytes(value);
    case '!=':
      return text !== toBytes(value);
    case '=~':
      return wholeRegex(value).test(text);
    case '!~':
      return !wholeRegex(value).test(text);
  }
}

export function compare<T extends number | bigint>(a: T, op: CompareOp, b: T): boolean {
  switch (op) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
  }
}

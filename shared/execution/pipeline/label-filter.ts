/**
 * Label filters (docs/dev/logql-semantics.md#label-filters): a comparison of one label, or a tree of comparisons. A value that does
 * not convert passes and sets `__error__`; a row with an absent label is dropped. Regular expressions are
 * always anchored, as in selectors (difference D1). `__error__` is read from its slot, `__error_details__`
 * never.
 */

import { bytesOfText } from '../../base/model/byte-text.ts';
import { ERROR_LABEL } from '../../base/text/names.ts';
import type { CompareOp, LabelFilter, Matcher } from '../../language/logql/ast.ts';
import { compileMatcher } from '../../language/logql/matcher.ts';
import { compileRegex } from '../../language/regex/regex.ts';
import {
  type Conversion,
  type Converted,
  convertBytes,
  convertDuration,
  convertNumber,
  newConverted,
} from './conversions.ts';
import { containsIp, readIp } from './ip.ts';
import { KIND_CLEAN, KIND_RAW, PARSED, type RowLabels } from './row-labels.ts';

/** Returns whether the row passes. May set the row's error. */
export type LabelTest = (labels: RowLabels) => boolean;

/**
 * Compiles a filter. Throws an Error with the reference's text for an invalid regular expression. An invalid
 * address matches no value, and no value is outside it either. A stage that consists of only such a filter is
 * refused when stages are compiled.
 */
export function compileLabelFilter(filter: LabelFilter, labels: RowLabels): LabelTest {
  switch (filter.kind) {
    case 'string':
      return stringTest(filter.matcher, labels);
    case 'number':
      return comparison(labels.intern(filter.name), convertNumber, filter.op, filter.value);
    case 'bytes':
      return comparison(labels.intern(filter.name), convertBytes, filter.op, filter.bytes);
    case 'duration':
      return durationTest(labels.intern(filter.name), filter.op, filter.ns);
    case 'ip':
      return ipTest(labels.intern(filter.name), filter.op, filter.pattern);
    case 'and': {
      const left = compileLabelFilter(filter.left, labels);
      const right = compileLabelFilter(filter.right, labels);
      // Run both sides, because the right one may set an error.
      return row => {
        const kept = left(row);
        return right(row) && kept;
      };
    }
    case 'or': {
      const left = compileLabelFilter(filter.left, labels);
      const right = compileLabelFilter(filter.right, labels);
      return row => left(row) || right(row);
    }
  }
}

/** Returns the names that a filter reads. */
export function namesOfFilter(filter: LabelFilter): string[] {
  switch (filter.kind) {
    case 'string':
      return [filter.matcher.name];
    case 'and':
    case 'or':
      return [...namesOfFilter(filter.left), ...namesOfFilter(filter.right)];
    default:
      return [filter.name];
  }
}

/** Returns whether a filter can set `__error__`. */
export function filterCanFail(filter: LabelFilter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') {
    return filterCanFail(filter.left) || filterCanFail(filter.right);
  }
  return filter.kind !== 'string' && filter.kind !== 'ip';
}

/** Returns whether a filter's result depends on an existing error of the row. */
export function filterReadsError(filter: LabelFilter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') {
    return filterReadsError(filter.left) || filterReadsError(filter.right);
  }
  return filter.kind === 'ip' || (filter.kind === 'string' && filter.matcher.name === ERROR_LABEL);
}

function stringTest(matcher: Matcher, labels: RowLabels): LabelTest {
  const { name, op, value } = matcher;
  if (name === ERROR_LABEL) {
    const accepts = compileMatcher(matcher);
    return row => accepts(row.error);
  }
  const id = labels.intern(name);
  if (op === '=' || op === '!=') return equalityTest(id, value, op === '=');
  const regex = compileRegex(value, { anchored: true, dotMatchesNewline: true });
  const wanted = op === '=~';
  return row => regex.test(row.get(id) ?? '') === wanted;
}

function equalityTest(id: number, value: string, wanted: boolean): LabelTest {
  const needle = bytesOfText(value);
  const length = needle.length;
  // In a clean value, invalid bytes and U+FFFD read as spaces. If the needle contains neither, the bytes
  // decide.
  const cleanDecides = value.isWellFormed() && !/[ \ufffd]/.test(value);
  return row => {
    if (row.lookup(id) === PARSED) {
      const index = row.valueIndexOf(id);
      const kind = row.valueKinds[index];
      if (kind === KIND_RAW || (kind === KIND_CLEAN && cleanDecides)) {
        const start = row.valueStarts[index];
        if (row.valueEnds[index] - start !== length) return !wanted;
        const source = row.valueSources[index];
        for (let i = 0; i < length; i++) if (source[start + i] !== needle[i]) return !wanted;
        return wanted;
      }
    }
    return ((row.get(id) ?? '') === value) === wanted;
  };
}

function comparison(id: number, convert: Conversion, op: CompareOp, limit: number): LabelTest {
  const converted = newConverted();
  return row => {
    convert(row, id, converted);
    if (!converted.present) return false;
    if (converted.error !== undefined) return keepWithError(row, converted.error);
    return compareNumbers(converted.value, op, limit);
  };
}

function durationTest(id: number, op: CompareOp, ns: bigint): LabelTest {
  const converted = newConverted();
  const limit = Number(ns);
  const limitIsExact = Number.isSafeInteger(limit);
  return row => {
    convertDuration(row, id, converted);
    if (!converted.present) return false;
    if (converted.error !== undefined) return keepWithError(row, converted.error);
    if (converted.exactNs === undefined && limitIsExact) return compareNumbers(converted.value, op, limit);
    return compareBigints(exactNs(converted), op, ns);
  };
}

function exactNs(converted: Converted): bigint {
  return converted.exactNs ?? BigInt(converted.value);
}

function keepWithError(row: RowLabels, details: string): boolean {
  if (row.error === '') {
    row.error = 'LabelFilterErr';
    row.errorDetails = details;
  }
  return true;
}

export function compareNumbers(value: number, op: CompareOp, limit: number): boolean {
  switch (op) {
    case '==':
      return value === limit;
    case '!=':
      return value !== limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
  }
}

function compareBigints(value: bigint, op: CompareOp, limit: bigint): boolean {
  const order = value < limit ? -1 : value > limit ? 1 : 0;
  return compareNumbers(order, op, 0);
}

function ipTest(id: number, op: '=' | '!=', pattern: string): LabelTest {
  const matcher = readIp(pattern);
  if (matcher === undefined) return row => row.error !== '';
  const wanted = op === '=';
  return row => {
    if (row.error !== '') return true;
    const kind = row.lookup(id);
    if (kind === PARSED) {
      const index = row.valueIndexOf(id);
      if (row.valueKinds[index] === KIND_CLEAN || row.valueKinds[index] === KIND_RAW) {
        const source = row.valueSources[index];
        return containsIp(matcher, source, row.valueStarts[index], row.valueEnds[index]) === wanted;
      }
    }
    const text = row.get(id);
    if (text === undefined) return false;
    const bytes = bytesOfText(text);
    return containsIp(matcher, bytes, 0, bytes.length) === wanted;
  };
}

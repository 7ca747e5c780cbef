/** Functions of every Go template: logic, `len`, `index`, `slice`, printing, escaping, comparison. */
import { byteLengthOf, bytesOfText, sliceBytes } from '../../../base/model/byte-text.ts';
import { equalsAny, isLess } from './compare.ts';
import { CallError } from './error.ts';
import { escapeHtml, escapeJs, escapeQuery } from './escapes.ts';
import { fixed, type TemplateFunction, variadic } from './function-types.ts';
import { sprint, sprintln } from './print.ts';
import { sprintf } from './printf.ts';
import { GoInt, isTrue, kindOf, LabelMap, typeName, type Value } from './values.ts';

export const BUILTINS: ReadonlyArray<readonly [string, TemplateFunction]> = [
  ['and', { ...variadic(['value'], 'value', args => args[args.length - 1]), shortCircuit: false }],
  ['or', { ...variadic(['value'], 'value', args => args[args.length - 1]), shortCircuit: true }],
  ['not', fixed(['value'], ([value]) => !isTrue(value))],
  ['len', fixed(['value'], ([value]) => GoInt.of(lengthOf(value)))],
  ['index', variadic(['value'], 'value', ([item, ...keys]) => indexed(item, keys))],
  ['slice', variadic(['value'], 'value', ([item, ...bounds]) => sliced(item, bounds))],
  ['print', variadic([], 'any', sprint)],
  [
    'printf',
    { ...variadic(['string'], 'any', ([format, ...args]) => sprintf(format as string, args)), weight: 8 },
  ],
  ['println', variadic([], 'any', sprintln)],
  ['html', variadic([], 'any', args => escapeHtml(joined(args)))],
  ['js', variadic([], 'any', args => escapeJs(joined(args)))],
  ['urlquery', variadic([], 'any', args => escapeQuery(joined(args)))],
  ['call', variadic(['value'], 'value', ([callee]) => refuseCall(callee))],
  ['eq', variadic(['value'], 'value', ([first, ...others]) => equalsAny(first, others))],
  ['ne', fixed(['value', 'value'], ([a, b]) => !equalsAny(a, [b]))],
  ['lt', fixed(['value', 'value'], ([a, b]) => isLess(a, b))],
  ['le', fixed(['value', 'value'], ([a, b]) => isLess(a, b) || equalsAny(a, [b]))],
  ['gt', fixed(['value', 'value'], ([a, b]) => !isLess(a, b) && !equalsAny(a, [b]))],
  ['ge', fixed(['value', 'value'], ([a, b]) => !isLess(a, b))],
];

function joined(args: readonly Value[]): string {
  if (args.length === 1 && typeof args[0] === 'string') return args[0];
  return sprint(args.map(arg => (arg === undefined || arg === null ? '<no value>' : arg)));
}

/** Refuses a call: no value of this language is a function. */
function refuseCall(callee: Value): never {
  if (callee === undefined || callee === null) throw new CallError('call of nil');
  throw new CallError(`non-function argument of type ${typeName(callee)}`);
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return byteLengthOf(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map) return value.size;
  if (value instanceof LabelMap) return value.size();
  if (value === undefined || value === null) {
    throw new CallError('reflect: call of reflect.Value.Type on zero Value');
  }
  throw new CallError(`len of type ${typeName(value)}`);
}

/**
 * Returns a position in a list of `length`. This function allows the end; `elementOf` refuses it with a
 * different message.
 */
function position(index: Value, length: number): number {
  if (index === undefined || index === null) throw new CallError('cannot index slice/array with nil');
  if (!(index instanceof GoInt)) {
    throw new CallError(`cannot index slice/array with type ${typeName(index)}`);
  }
  if (index.value < 0n || index.value > BigInt(length))
    throw new CallError(`index out of range: ${index.value}`);
  return Number(index.value);
}

function indexed(item: Value, keys: readonly Value[]): Value {
  if (item === undefined || item === null) throw new CallError('index of untyped nil');
  let current: Value = item;
  for (const key of keys) {
    if (current === undefined || current === null) throw new CallError('index of nil pointer');
    current = elementOf(current, key);
  }
  return current;
}

function elementOf(item: Value, key: Value): Value {
  switch (kindOf(item)) {
    case 'string': {
      const text = item as string;
      const length = byteLengthOf(text);
      const at = position(key, length);
      if (at === length) throw new CallError('reflect: string index out of range');
      return new GoInt(BigInt(bytesOfText(text)[at]), 'uint8');
    }
    case 'array': {
      const list = item as Value[];
      const at = position(key, list.length);
      if (at === list.length) throw new CallError('reflect: slice index out of range');
      return list[at];
    }
    case 'map':
      if (typeof key === 'string') {
        return item instanceof LabelMap
          ? (item.source.get(key) ?? '')
          : (item as Map<string, Value>).get(key);
      }
      if (key === undefined || key === null) throw new CallError('value is nil; should be of type string');
      throw new CallError(`value has type ${typeName(key)}; should be string`);
    default:
      throw new CallError(`can't index item of type ${typeName(item)}`);
  }
}

function sliced(item: Value, bounds: readonly Value[]): Value {
  if (item === undefined || item === null) throw new CallError('slice of untyped nil');
  if (bounds.length > 3) throw new CallError(`too many slice indexes: ${bounds.length}`);
  if (typeof item === 'string') {
    if (bounds.length === 3) throw new CallError('cannot 3-index slice a string');
  } else if (!Array.isArray(item)) {
    throw new CallError(`can't slice item of type ${typeName(item)}`);
  }
  const length = typeof item === 'string' ? byteLengthOf(item) : item.length;
  const at = bounds.map(bound => position(bound, length));
  const [start = 0, end = length, capacity = end] = at;
  if (start > end) throw new CallError(`invalid slice index: ${start} > ${end}`);
  if (end > capacity) throw new CallError(`invalid slice index: ${end} > ${capacity}`);
  return typeof item === 'string' ? sliceBytes(item, start, end) : item.slice(start, end);
}

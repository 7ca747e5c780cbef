/**
 * Declarations of functions. Parameter types decide which arguments Go accepts before it calls the function.
 * `any` accepts everything; `value` is a parameter of a built-in function, which also accepts a constant nil.
 */
import type { TemplateData } from './state.ts';
import type { Value } from './values.ts';

export type ParameterType = 'string' | 'int' | 'float64' | 'any' | 'value' | 'time' | 'duration' | 'month';

/** Go's names of the types, for messages. */
export const PARAMETER_NAMES: Readonly<Record<ParameterType, string>> = Object.freeze({
  string: 'string',
  int: 'int',
  float64: 'float64',
  any: 'interface {}',
  value: 'reflect.Value',
  time: 'time.Time',
  duration: 'time.Duration',
  month: 'time.Month',
});

export interface TemplateFunction {
  readonly parameters: readonly ParameterType[];
  /** Type of any number of further arguments. */
  readonly rest: ParameterType | undefined;
  /**
   * Calls the function with arguments of the declared types. Throws CallError with the text after `error
   * calling FN: `.
   */
  readonly call: (args: Value[], data: TemplateData) => Value;
  /** Whether arguments are evaluated one by one: `and` and `or` return the value at which they stop. */
  readonly shortCircuit?: boolean;
  /** Steps per call, and the factor for the length of texts: 1 is a plain pass over a text. */
  readonly weight?: number;
}

export function fixed(
  parameters: readonly ParameterType[],
  call: TemplateFunction['call'],
): TemplateFunction {
  return { parameters, rest: undefined, call };
}

export function variadic(
  parameters: readonly ParameterType[],
  rest: ParameterType,
  call: TemplateFunction['call'],
): TemplateFunction {
  return { parameters, rest, call };
}

/** Sets the weight of functions that cost more than a pass over their texts. */
export function weighted(
  weight: number,
  functions: ReadonlyArray<readonly [string, TemplateFunction]>,
): ReadonlyArray<readonly [string, TemplateFunction]> {
  return functions.map(([name, known]) => [name, { ...known, weight }]);
}

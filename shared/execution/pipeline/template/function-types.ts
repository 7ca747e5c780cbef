/**
 * How a function is declared: its parameter types decide which arguments Go accepts before the function sees
 * them. `any` takes everything; `value` is a built-in's parameter, which also takes a constant nil.
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
  /** Arguments have the declared types; throws CallError with the text behind `error calling FN: `. */
  readonly call: (args: Value[], data: TemplateData) => Value;
  /** `and` and `or` look at one argument after the other: the value at which they stop. */
  readonly shortCircuit?: boolean;
  /** How many steps a call costs, and by what its texts count more: 1 is a plain pass over a text. */
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

/** Functions that cost more than a pass over their texts. */
export function weighted(
  weight: number,
  functions: ReadonlyArray<readonly [string, TemplateFunction]>,
): ReadonlyArray<readonly [string, TemplateFunction]> {
  return functions.map(([name, known]) => [name, { ...known, weight }]);
}

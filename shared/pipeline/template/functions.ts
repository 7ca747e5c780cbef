/** All functions of the template language by name. What is not here does not exist for a template. */
import { BUILTINS } from './builtins.ts';
import { fixed, type TemplateFunction, variadic } from './function-types.ts';
import { fromJson } from './json.ts';
import { NUMBER_FUNCTIONS } from './number-functions.ts';
import { TEXT_FUNCTIONS } from './text-functions.ts';
import { GoTime } from './time.ts';
import { TIME_FUNCTIONS } from './time-functions.ts';
import { isTrue, type Value } from './values.ts';

export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map([
  ...BUILTINS,
  ...TEXT_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ['__line__', fixed([], (_args, data) => data.line())],
  ['default', variadic(['any'], 'any', ([fallback, given]) => (isEmpty(given) ? fallback : given))],
  ['fromJson', fixed(['string'], ([text]) => fromJson(text as string))],
]);

function isEmpty(value: Value): boolean {
  return !(value instanceof GoTime) && !isTrue(value);
}

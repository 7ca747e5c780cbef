/** All functions of the template language by name. Other functions do not exist for a template. */
import { BUILTINS } from './builtins.ts';
import { fixed, type TemplateFunction, variadic, weighted } from './function-types.ts';
import { fromJson } from './json.ts';
import { DECIMAL_FUNCTIONS, NUMBER_FUNCTIONS } from './number-functions.ts';
import { REGEX_FUNCTIONS, TEXT_FUNCTIONS } from './text-functions.ts';
import { GoTime } from './time.ts';
import { TIME_FUNCTIONS } from './time-functions.ts';
import { isTrue, type Value } from './values.ts';

export const TEMPLATE_FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map([
  ...BUILTINS,
  ...TEXT_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...weighted(32, DECIMAL_FUNCTIONS),
  // A call takes 50 µs if it looks up a zone.
  ...weighted(64, TIME_FUNCTIONS),
  ...weighted(64, REGEX_FUNCTIONS),
  ['__line__', fixed([], (_args, data) => data.line())],
  ['default', variadic(['any'], 'any', ([fallback, given]) => (isEmpty(given) ? fallback : given))],
  ...weighted(16, [['fromJson', fixed(['string'], ([text]) => fromJson(text as string))]]),
]);

function isEmpty(value: Value): boolean {
  return !(value instanceof GoTime) && !isTrue(value);
}

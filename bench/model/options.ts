/** Options of `npm run model`, from its arguments. */
import { parseArgs } from 'node:util';
import type { Load } from './model.ts';

/** Field and default by flag. */
const FLAGS = {
  'gb-per-day': ['gbPerDay', 100],
  'push-kb': ['pushKb', 1000],
  'queries-per-day': ['queriesPerDay', 10_000],
  'query-hours': ['queryHours', 1],
  retention: ['retentionDays', 30],
  tenants: ['tenants', 1],
  peak: ['peak', 3],
} as const satisfies Record<string, readonly [keyof Load, number]>;

/** Options with a minimum of 1. */
const AT_LEAST_ONE: readonly string[] = ['tenants', 'peak'];

/** @param args arguments after the script name. Throws an Error that names an invalid one. */
export function loadOf(args: readonly string[]): Load {
  const options = Object.fromEntries(Object.keys(FLAGS).map(name => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ args: [...args], options });
  const fields = Object.entries(FLAGS).map(([flag, [field, preset]]) => {
    const text = values[flag];
    const value = text === undefined ? preset : Number(text);
    const least = AT_LEAST_ONE.includes(flag) ? 1 : 0;
    const isZeroMeant = flag === 'queries-per-day' || flag === 'retention';
    if (!Number.isFinite(value) || text === '' || value < least || (value === 0 && !isZeroMeant))
      throw new Error(`--${flag} is a number ${least === 1 ? 'of at least 1' : 'above 0'}, not ${text}`);
    return [field, value];
  });
  return Object.fromEntries(fields) as unknown as Load;
}

/**
 * Renders docs/reference/limits.md from scripts/limits/page.md. Values in double braces come from the source:
 *
 *     {{MAX_ENTRIES}}                     a number of an exported constant: 1,000,000
 *     {{MAX_PUSH_BYTES size}}             as a size: 192 MiB
 *     {{MAX_WAIT_MS time}}                as a time: 5 s
 *     {{MAX_BODY plain}}                  as it is in a message: 10485760
 *     {{limits_config.max_line_size}}     the default of a configuration key: 256 KiB
 */

import { formatConfig } from '../../shared/server/admin/config.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { LIMITS } from './values.ts';

export const LIMITS_PAGE = 'docs/reference/limits.md';
export const LIMITS_SOURCE = 'scripts/limits/page.md';

/** @throws Error if the page names a value that does not exist */
export function limitsPage(source: string): string {
  return source.replace(/\{\{([^}]+)\}\}/g, (_, text: string) => {
    const [name, form = 'count'] = text.trim().split(' ');
    return name.includes('.') ? configDefault(name) : formatted(name, form);
  });
}

/** Names of LIMITS that the page uses. */
export function namedLimits(source: string): Set<string> {
  return new Set([...source.matchAll(/\{\{(\w+)(?: \w+)?\}\}/g)].map(([, name]) => name));
}

function formatted(name: string, form: string): string {
  const value = LIMITS[name];
  if (value === undefined)
    throw new Error(`${LIMITS_SOURCE} names ${name}, which scripts/limits/values.ts does not have`);
  if (form === 'size') return sizeText(value);
  if (form === 'time') return timeText(value);
  if (form === 'plain') return String(value);
  if (form === 'count') return value.toLocaleString('en-US');
  throw new Error(`${LIMITS_SOURCE}: unknown form ${form}`);
}

function sizeText(bytes: number): string {
  const power = [3, 2, 1].find(each => bytes % 1024 ** each === 0);
  if (power === undefined) return `${bytes.toLocaleString('en-US')} bytes`;
  return `${(bytes / 1024 ** power).toLocaleString('en-US')} ${['', 'KiB', 'MiB', 'GiB'][power]}`;
}

function timeText(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  if (ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

function configDefault(path: string): string {
  let value: unknown = formatConfig(DEFAULT_CONFIG, { mode: 'defaults' });
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
  if (value === undefined)
    throw new Error(`${LIMITS_SOURCE} names the key ${path}, which the configuration does not have`);
  if (/^0[sB]?$/.test(String(value)) || (Array.isArray(value) && value.length === 0)) return 'off';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  // Configuration sizes are binary, as in Loki.
  return String(value).replace(/^(\d+)([KMGT])B$/, '$1 $2iB');
}

/**
 * Kinds of configuration values: syntax in the file, value in the program, and format in `/config`. Sizes are
 * 1024-based (`256KB` is 262144 bytes), like the reference's limits and unlike sizes in LogQL.
 */
import * as z from 'zod';
import {
  formatGoDuration,
  formatPrometheusDuration,
  parseGoDuration,
  parsePrometheusDuration,
} from '../../base/model/duration.ts';
import { lazily } from '../../base/model/lazily.ts';
import type { BlockedQuery } from '../../base/model/limits.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';

export interface SettingKind<T> {
  /** Short name of the type, for the reference page. */
  readonly type: string;
  /** Created on first use, because a program with the default configuration needs none. */
  readonly schema: () => z.ZodType<T>;
  /** Allowed values for error messages: `expected <this>`. */
  readonly expected: string;
  /** Formats the value in the syntax of the file. */
  readonly format: (value: T) => unknown;
  /** True if the value may contain a password or token. Then no message quotes it, and `format` hides it. */
  readonly secret?: boolean;
}

/** One value of a section: its name in the file and its kind. */
export interface ConfigField<T> {
  readonly name: string;
  readonly kind: SettingKind<T>;
  /** Unit of a plain number that is not a count. */
  readonly unit?: string;
  /** Purpose in one sentence of Markdown, for a row of docs/reference/configuration.md. */
  readonly about: string;
  /** True for a key that the reference does not have, in one of its sections. */
  readonly own?: boolean;
}

/** The compiler requires an entry for each value of the section. */
export type ConfigFields<T> = { readonly [K in keyof T]-?: ConfigField<T[K]> };

const same = <T>(value: T): unknown => value;

export const FLAG: SettingKind<boolean> = {
  type: 'flag',
  schema: lazily(() => z.boolean()),
  expected: 'true or false',
  format: same,
};
export const TEXT: SettingKind<string> = {
  type: 'string',
  schema: lazily(() => z.string()),
  expected: 'a string',
  format: same,
};
export const TEXTS: SettingKind<readonly string[]> = {
  type: 'list of strings',
  schema: lazily(() => z.array(z.string())),
  expected: 'a list of strings',
  format: same,
};

/** File names: a list, or one string with commas between them. */
export const PATHS: SettingKind<readonly string[]> = {
  type: 'list of paths',
  schema: lazily(() =>
    z
      .union([z.array(z.string()), z.string().transform(written => written.split(','))])
      .transform(names => names.map(name => name.trim()).filter(name => name !== '')),
  ),
  expected: 'a path, several with commas between them, or a list of paths',
  format: same,
};

const blockedQuery = lazily(() =>
  z
    .strictObject({
      pattern: z.string().default(''),
      regex: z.boolean().default(false),
      hash: z.int().min(0).max(0xffff_ffff).default(0),
      types: z.array(z.enum(['metric', 'filter', 'limited'])).default([]),
      query_tags: z.record(z.string(), z.string()).default({}),
    })
    .transform(({ query_tags: queryTags, ...rest }): BlockedQuery => ({ ...rest, queryTags })),
);

export const BLOCKED_QUERIES: SettingKind<readonly BlockedQuery[]> = {
  type: 'list',
  schema: lazily(() => z.array(blockedQuery())),
  expected: 'a list of {pattern, regex, hash, types, query_tags}; types are metric, filter, limited',
  format: list => list.map(({ queryTags, ...rest }) => ({ ...rest, query_tags: queryTags })),
};

/** A whole number between two inclusive bounds. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): SettingKind<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    type: 'whole number',
    schema: lazily(() => z.int().min(min).max(max)),
    expected: `a whole number ${range}`,
    format: same,
  };
}

export const count = whole(0);

/** A number of at least 0, possibly with a fraction. */
export const DECIMAL: SettingKind<number> = {
  type: 'number',
  schema: lazily(() => z.number().min(0)),
  expected: 'a number of at least 0',
  format: same,
};

export function oneOf<const T extends string>(values: readonly T[]): SettingKind<T> {
  return {
    type: 'one of',
    schema: lazily(() => z.enum(values)),
    expected: `one of ${values.join(', ')}`,
    format: same,
  };
}

/**
 * Duration in ns, written as a Prometheus or Go duration. A plain 0 is allowed, but no other number without a
 * unit.
 */
export const DURATION_NS: SettingKind<bigint> = {
  type: 'duration',
  schema: lazily(() =>
    z.union([z.string(), z.literal(0)]).transform((written, context) => {
      const ns = readDuration(String(written));
      if (ns !== undefined && ns >= 0n) return ns;
      context.addIssue('not a duration');
      return z.NEVER;
    }),
  ),
  expected: 'a duration such as 30s, 5m, 1h30m or 7d',
  format: formatDuration,
};

/** Duration in ms, for timers; possibly with a fraction. */
export const DURATION_MS: SettingKind<number> = {
  type: 'duration',
  schema: lazily(() => DURATION_NS.schema().transform(ns => Number(ns) / Number(NS_PER_MS))),
  expected: DURATION_NS.expected,
  format: ms => formatDuration(BigInt(Math.round(ms * Number(NS_PER_MS)))),
};

/** Replaces secrets in output. */
export const HIDDEN = '<secret>';

/** Address of another service. It may contain a password. */
export const ADDRESS: SettingKind<string> = {
  type: 'string',
  schema: lazily(() => z.string()),
  expected: 'an address',
  format: written => (URL.canParse(written) ? withoutSecrets(written) : written),
  secret: true,
};

/**
 * Hides the password and the parameter values of the address, because keys are often passed as parameters.
 */
export function withoutSecrets(url: string): string {
  const parsed = new URL(url);
  if (parsed.password === '' && parsed.search === '') return url;
  if (parsed.password !== '') parsed.password = HIDDEN;
  for (const name of new Set(parsed.searchParams.keys())) parsed.searchParams.set(name, HIDDEN);
  return parsed.href.replaceAll(encodeURI(HIDDEN), HIDDEN).replaceAll(encodeURIComponent(HIDDEN), HIDDEN);
}

const SIZE_UNITS = ['', 'K', 'M', 'G', 'T'];
const SIZE = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i;

/** Size in bytes: a whole number, or a number with a 1024-based unit. */
export const BYTES: SettingKind<number> = {
  type: 'size',
  schema: lazily(() =>
    z.union([z.string(), z.int()]).transform((written, context) => {
      const size = readSize(String(written));
      if (size !== undefined) return size;
      context.addIssue('not a size');
      return z.NEVER;
    }),
  ),
  expected: 'a size such as 0, 512KB, 10MB or 1.5GB (1KB is 1024 bytes)',
  format: formatSize,
};

function readDuration(written: string): bigint | undefined {
  for (const parse of [parsePrometheusDuration, parseGoDuration]) {
    try {
      return parse(written);
    } catch {
      // The other syntax may accept it. If neither does, the caller reports what is allowed.
    }
  }
  return undefined;
}

export function formatDuration(ns: bigint): string {
  return ns % NS_PER_MS === 0n ? formatPrometheusDuration(ns) : formatGoDuration(ns);
}

function readSize(written: string): number | undefined {
  const match = SIZE.exec(written.trim());
  if (match === null) return undefined;
  const size = Math.round(Number(match[1]) * 1024 ** SIZE_UNITS.indexOf(match[2].toUpperCase()));
  return Number.isSafeInteger(size) ? size : undefined;
}

function formatSize(size: number): string {
  let power = 0;
  while (power < SIZE_UNITS.length - 1 && size > 0 && size % 1024 ** (power + 1) === 0) power++;
  return `${size / 1024 ** power}${SIZE_UNITS[power]}B`;
}

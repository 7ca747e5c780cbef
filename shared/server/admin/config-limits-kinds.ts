/**
 * Kinds of values that occur only in tenant limits: times, and values by policy. Names of policies and fields
 * become keys of a Map, because a tenant may call a policy `constructor`.
 */
import * as z from 'zod';
import { lazily } from '../../base/model/lazily.ts';
import type { LimitTime, PolicySelector, StreamRetention } from '../../base/model/limits.ts';
import { NS_PER_DAY, NS_PER_MS } from '../../base/model/time-units.ts';
import { parseSelector } from '../../language/logql/parse.ts';
import { DURATION_NS, formatDuration, type SettingKind } from './config-kinds.ts';

const TIME =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?)?$/;
/** The reference's format of an unset time. */
const NO_TIME = '0';
const TIME_EXAMPLES = 'a time such as 2026-01-31, 2026-01-31T12:00 or 2026-01-31T12:00:00Z';

const timeSchema = lazily(() =>
  z.union([z.string(), z.literal(0), z.null()]).transform((written, context): LimitTime | undefined => {
    if (written === null || written === 0 || written === NO_TIME || written === '') return undefined;
    const read = readTime(written);
    if (read !== undefined) return read;
    context.addIssue('not a time');
    return z.NEVER;
  }),
);

/** A day or time in UTC. A time with seconds must name its zone. `0` means unset. */
export const LIMIT_TIME: SettingKind<LimitTime | undefined> = {
  type: 'time',
  schema: timeSchema,
  expected: TIME_EXAMPLES,
  format: value => value?.text ?? NO_TIME,
};

/** Times by name. Unset ones are omitted. */
export const LIMIT_TIMES: SettingKind<ReadonlyMap<string, LimitTime>> = {
  type: 'times by name',
  schema: lazily(() =>
    mapOf(timeSchema()).transform(
      map => new Map([...map].filter((pair): pair is [string, LimitTime] => pair[1] !== undefined)),
    ),
  ),
  expected: `a map of times: ${TIME_EXAMPLES}`,
  format: map => Object.fromEntries([...map].map(([name, { text }]) => [name, text])),
};

const textList = lazily(() => z.array(z.string()));

export const TEXT_LISTS: SettingKind<ReadonlyMap<string, readonly string[]>> = {
  type: 'lists by name',
  schema: lazily(() => mapOf(textList())),
  expected: 'a map of lists of strings',
  format: map => Object.fromEntries(map),
};

const policySelector = lazily(() =>
  z.strictObject({
    selector: z.string().refine(isSelector),
    priority: z.int().default(0),
  }),
);

export const POLICY_SELECTORS: SettingKind<ReadonlyMap<string, readonly PolicySelector[]>> = {
  type: 'lists by name',
  schema: lazily(() => mapOf(z.array(policySelector()))),
  expected:
    'a map from policy to a list of {selector, priority}; a selector has the syntax of a query, {app="a"}',
  format: map => Object.fromEntries(map),
};

const MIN_RETENTION_NS = NS_PER_DAY;

const streamRule = lazily(() =>
  z
    .strictObject({
      selector: z.string().refine(isSelector),
      priority: z.int().default(0),
      period: DURATION_NS.schema(),
    })
    .transform(({ selector, priority, period }, context): StreamRetention => {
      if (period < MIN_RETENTION_NS) {
        context.addIssue(`retention period must be >= 24h was ${formatDuration(period)}`);
        return z.NEVER;
      }
      return { selector, priority, periodNs: period };
    }),
);

export const STREAM_RETENTION: SettingKind<readonly StreamRetention[]> = {
  type: 'list',
  schema: lazily(() =>
    z
      .array(streamRule())
      .nullable()
      .transform(rules => rules ?? []),
  ),
  expected:
    'a list of {selector, priority, period}; a selector has the syntax of a query, {app="a"}; a period is at least 24h',
  format: rules =>
    rules.map(({ selector, priority, periodNs }) => ({
      selector,
      priority,
      period: formatDuration(periodNs),
    })),
};

/**
 * The reference's syntax has `fields` around the names. A name needs a letter or digit, otherwise it cannot
 * be stored.
 */
export const GENERIC_FIELDS: SettingKind<ReadonlyMap<string, readonly string[]>> = {
  type: 'map',
  schema: lazily(() =>
    z
      .strictObject({ fields: mapOf(textList()).nullish() })
      .transform(({ fields }) => fields ?? new Map())
      .refine(fields => [...fields.keys()].every(name => /[A-Za-z0-9]/.test(name))),
  ),
  expected: '{fields: {name: [source]}}',
  format: map => (map.size === 0 ? {} : { fields: Object.fromEntries(map) }),
};

/** Settings that are accepted without effect, printed as written. */
export const SETTINGS: SettingKind<Readonly<Record<string, unknown>>> = {
  type: 'map',
  schema: lazily(() => z.record(z.string(), z.unknown())),
  expected: 'a map',
  format: value => value,
};

function mapOf<T>(value: z.ZodType<T>): z.ZodType<ReadonlyMap<string, T>> {
  return z
    .record(z.string(), value)
    .nullable()
    .transform(record => new Map(Object.entries(record ?? {})));
}

function isSelector(text: string): boolean {
  try {
    parseSelector(text);
    return true;
  } catch {
    return false;
  }
}

function readTime(written: string): LimitTime | undefined {
  const match = TIME.exec(written.trim());
  if (match === null) return undefined;
  const [, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  // Date.parse converts February 30 to a day in March.
  if (Number.isNaN(midnightMs) || !new Date(midnightMs).toISOString().startsWith(day)) return undefined;
  const shownZone = /^[+-]00:00$/.test(zone) ? 'Z' : zone;
  const text = `${day}T${hour}:${minute}:${second}${shownZone}`;
  return { ns: BigInt(Date.parse(text)) * NS_PER_MS + BigInt(fraction.padEnd(9, '0')), text };
}

/**
 * Kinds of values that only the limits of tenants have: times, and what is said by policy. Names of policies and
 * fields become keys of a Map, because a tenant may call a policy `constructor`.
 */

import * as z from 'zod';
import { NS_PER_SECOND } from '../../base/model/duration.ts';
import { lazily } from '../../base/model/lazily.ts';
import type { LimitTime, PolicySelector, StreamRetention } from '../../base/model/limits.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import { parseSelector } from '../../language/logql/parse.ts';
import { durationNs, formatDuration, type Kind } from './config-kinds.ts';

const TIME =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?)?$/;
/** As the reference writes a time that is not set. */
const NO_TIME = '0';
const TIME_EXAMPLES = 'a time such as 2026-01-31, 2026-01-31T12:00 or 2026-01-31T12:00:00Z';

const timeSchema = lazily(() =>
  z.union([z.string(), z.literal(0), z.null()]).transform((written, context): LimitTime | undefined => {
    if (written === null || written === 0 || written === NO_TIME || written === '') return undefined;
    const read = readTime(written);
    if (read !== undefined) return read;
    context.addIssue('no time');
    return z.NEVER;
  }),
);

/** A day or a time of day is in UTC; with seconds the time must name its zone. `0` is no time. */
export const time: Kind<LimitTime | undefined> = {
  type: 'time',
  schema: timeSchema,
  expected: TIME_EXAMPLES,
  format: value => value?.text ?? NO_TIME,
};

/** Times by name; a name without one is left out. */
export const times: Kind<ReadonlyMap<string, LimitTime>> = {
  type: 'times by name',
  schema: lazily(() =>
    mapOf(timeSchema()).transform(
      map => new Map([...map].filter((pair): pair is [string, LimitTime] => pair[1] !== undefined)),
    ),
  ),
  expected: `names with a value each: ${TIME_EXAMPLES}`,
  format: map => Object.fromEntries([...map].map(([name, { text }]) => [name, text])),
};

const textList = lazily(() => z.array(z.string()));

export const textLists: Kind<ReadonlyMap<string, readonly string[]>> = {
  type: 'lists by name',
  schema: lazily(() => mapOf(textList())),
  expected: 'names with a list of texts each',
  format: map => Object.fromEntries(map),
};

const policySelector = lazily(() =>
  z.strictObject({
    selector: z.string().refine(isSelector),
    priority: z.int().default(0),
  }),
);

export const policySelectors: Kind<ReadonlyMap<string, readonly PolicySelector[]>> = {
  type: 'lists by name',
  schema: lazily(() => mapOf(z.array(policySelector()))),
  expected: 'policies with a list of {selector, priority} each; a selector is that of a query, {app="a"}',
  format: map => Object.fromEntries(map),
};

const MIN_RETENTION_NS = 86_400n * NS_PER_SECOND;

const streamRule = lazily(() =>
  z
    .strictObject({
      selector: z.string().refine(isSelector),
      priority: z.int().default(0),
      period: durationNs.schema(),
    })
    .transform(({ selector, priority, period }, context): StreamRetention => {
      if (period < MIN_RETENTION_NS) {
        context.addIssue(`retention period must be >= 24h was ${formatDuration(period)}`);
        return z.NEVER;
      }
      return { selector, priority, periodNs: period };
    }),
);

export const streamRetention: Kind<readonly StreamRetention[]> = {
  type: 'list',
  schema: lazily(() =>
    z
      .array(streamRule())
      .nullable()
      .transform(rules => rules ?? []),
  ),
  expected:
    'a list of {selector, priority, period}; a selector is that of a query, {app="a"}, a period at least 24h',
  format: rules =>
    rules.map(({ selector, priority, periodNs }) => ({
      selector,
      priority,
      period: formatDuration(periodNs),
    })),
};

/** The reference's form has `fields` around the names. A name needs a letter or digit, or it could not be stored. */
export const genericFields: Kind<ReadonlyMap<string, readonly string[]>> = {
  type: 'names with values',
  schema: lazily(() =>
    z
      .strictObject({ fields: mapOf(textList()).nullish() })
      .transform(({ fields }) => fields ?? new Map())
      .refine(fields => [...fields.keys()].every(name => /[A-Za-z0-9]/.test(name))),
  ),
  expected: '{fields: {name: [where to look]}}',
  format: map => (map.size === 0 ? {} : { fields: Object.fromEntries(map) }),
};

/** What is accepted and has no effect, as it is written. */
export const settings: Kind<Readonly<Record<string, unknown>>> = {
  type: 'names with values',
  schema: lazily(() => z.record(z.string(), z.unknown())),
  expected: 'names with values',
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
  // Date.parse rolls the 30th of February over into March.
  if (Number.isNaN(midnightMs) || !new Date(midnightMs).toISOString().startsWith(day)) return undefined;
  const shownZone = /^[+-]00:00$/.test(zone) ? 'Z' : zone;
  const text = `${day}T${hour}:${minute}:${second}${shownZone}`;
  return { ns: BigInt(Date.parse(text)) * NS_PER_MS + BigInt(fraction.padEnd(9, '0')), text };
}

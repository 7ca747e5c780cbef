/** Usage over days: sums, costs and chart series. */
import { MS_PER_DAY } from '../../../../shared/base/model/time-units.ts';
import type { Usage, UsageDay } from '../../api/usage-types.ts';
import type { DaySeries } from '../../components/day-bars-model.ts';
import type { YamlEntry } from '../../values/yaml-entries.ts';

export const DAY_COUNTS = [7, 30, 90] as const;
type DayCount = (typeof DAY_COUNTS)[number];

export function dayCountOf(text: string | undefined): DayCount {
  return DAY_COUNTS.find(count => String(count) === text) ?? 30;
}

/** Last `count` UTC days, ending with today. */
export function lastDays(count: number, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const today = Math.floor(nowMs / MS_PER_DAY) * MS_PER_DAY;
  return { fromMs: today - (count - 1) * MS_PER_DAY, toMs: nowMs };
}

interface UsageSums {
  readonly lines: number;
  /** Bytes of lines and metadata. */
  readonly bytes: number;
  readonly queries: number;
  readonly queryBytes: number;
  readonly refusedLines: number;
  /** Stored bytes of the last day, because stored bytes do not add up over days. */
  readonly storedBytes: number;
  readonly cost: number;
}

export function sumsOf(days: readonly UsageDay[]): UsageSums {
  const sum = (figure: (day: UsageDay) => number) => days.reduce((all, day) => all + figure(day), 0);
  return {
    lines: sum(({ lines }) => lines),
    bytes: sum(receivedBytes),
    queries: sum(({ queries }) => queries),
    queryBytes: sum(({ query_bytes }) => query_bytes),
    refusedLines: sum(refusedLines),
    storedBytes: days.at(-1)?.stored_bytes ?? 0,
    cost: sum(({ cost }) => cost.total),
  };
}

export function receivedBytes({ bytes, structured_metadata_bytes }: UsageDay): number {
  return bytes + structured_metadata_bytes;
}

export function refusedLines({ refused }: UsageDay): number {
  return Object.values(refused).reduce((all, { lines }) => all + lines, 0);
}

const MONTH_DAYS = 30;

/**
 * Cost of 30 days at the rate of the days with a cost. Today counts as the part that has passed. 0 if no day
 * has a cost.
 */
export function monthlyCost(days: readonly UsageDay[], nowMs: number): number {
  const used = days.filter(({ cost }) => cost.total > 0);
  const dayShare = (day: string) => Math.min(1, Math.max(1 / 24, (nowMs - Date.parse(day)) / MS_PER_DAY));
  const span = used.reduce((all, { day }) => all + dayShare(day), 0);
  const total = used.reduce((all, { cost }) => all + cost.total, 0);
  return span === 0 ? 0 : (total / span) * MONTH_DAYS;
}

const LEAST_SHOWN = 1e-6;

/** Text such as `$0.012`; small amounts keep two significant digits. */
export function moneyText(amount: number, currency: string): string {
  if (amount > 0 && amount < LEAST_SHOWN) return `<${moneyText(LEAST_SHOWN, currency)}`;
  const size = Math.abs(amount);
  const digits =
    size === 0 || size >= 0.1
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : { maximumSignificantDigits: 2 };
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(amount);
  } catch {
    // The currency can be any text of the configuration.
    return `${new Intl.NumberFormat('en', digits).format(amount)} ${currency}`;
  }
}

export function costSeries(days: readonly UsageDay[]): readonly DaySeries[] {
  return [
    { name: 'Ingest', color: '--series-1', values: days.map(({ cost }) => cost.ingest) },
    { name: 'Storage', color: '--series-3', values: days.map(({ cost }) => cost.storage) },
    { name: 'Queries', color: '--series-2', values: days.map(({ cost }) => cost.queries) },
  ];
}

export function receivedSeries(days: readonly UsageDay[]): readonly DaySeries[] {
  return [
    { name: 'Lines', color: '--series-1', values: days.map(({ bytes }) => bytes) },
    {
      name: 'Structured metadata',
      color: '--series-5',
      values: days.map(({ structured_metadata_bytes }) => structured_metadata_bytes),
    },
  ];
}

/** Maximum number of reasons; the others are one series. */
const MAX_REASONS = 6;

/** Refused lines by reason, most frequent first. */
export function refusedSeries(days: readonly UsageDay[]): readonly DaySeries[] {
  const sums = new Map<string, number>();
  for (const { refused } of days) {
    for (const [reason, { lines }] of Object.entries(refused))
      sums.set(reason, (sums.get(reason) ?? 0) + lines);
  }
  const reasons = [...sums].sort(([, a], [, b]) => b - a).map(([reason]) => reason);
  const named = reasons.slice(0, MAX_REASONS);
  const series = named.map((reason, i) => ({
    name: reason.replaceAll('_', ' '),
    color: `--series-${i + 2}`,
    values: days.map(({ refused }) => refused[reason]?.lines ?? 0),
  }));
  const others = new Set(reasons.slice(MAX_REASONS));
  if (others.size === 0) return series;
  const rest = days.map(({ refused }) =>
    Object.entries(refused).reduce((all, [reason, { lines }]) => all + (others.has(reason) ? lines : 0), 0),
  );
  return [...series, { name: `${others.size} other reasons`, color: '--series-10', values: rest }];
}

/** CSV with a header; amounts are in the currency of the usage. */
export function usageCsv({ days, currency }: Usage): string {
  const header = `day,lines,bytes,structured_metadata_bytes,streams,refused_lines,queries,query_bytes,stored_bytes,cost_${currency}`;
  const rows = days.map(day =>
    [
      ...[day.day, day.lines, day.bytes, day.structured_metadata_bytes, day.streams, refusedLines(day)],
      ...[day.queries, day.query_bytes, day.stored_bytes, day.cost.total],
    ].join(','),
  );
  return `${[header, ...rows].join('\n')}\n`;
}

/** Most important limits, in display order. */
const OFTEN_ASKED = [
  'ingestion_rate_mb',
  'max_global_streams_per_user',
  'max_line_size',
  'max_query_length',
  'max_entries_limit_per_query',
  'retention_period',
];

export function oftenAsked(limits: readonly YamlEntry[]): readonly YamlEntry[] {
  return OFTEN_ASKED.flatMap(name => limits.find(limit => limit.name === name) ?? []);
}

/** Limits that have each word in the name or the value. */
export function findLimits(limits: readonly YamlEntry[], text: string): readonly YamlEntry[] {
  const words = text.toLowerCase().split(/\s+/);
  return limits.filter(({ name, value }) => {
    const whole = `${name} ${value}`.toLowerCase();
    return words.every(word => whole.includes(word));
  });
}

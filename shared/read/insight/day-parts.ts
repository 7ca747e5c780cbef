/**
 * Cuts the days of a volume or statistics request into parts that are answered and cached separately: one
 * tenant, one day, and the streams that retention cuts at one time. The key of a part names all inputs of its
 * result except the interval. Chunks never change, so equal keys always have equal results.
 */

import type { Stream } from '../../base/model/page.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { insideDay, type TimeRange } from '../query/day-plan.ts';
import { compileSelector, type StreamSelector } from '../query/selector.ts';
import type { DayInterval } from '../query/stream-presence-verdict.ts';
import { tenantViews } from '../query/tenant-view.ts';
import { keptOfDay, type VisibleOf } from '../query/visibility.ts';

export interface DayPart extends DayInterval {
  readonly tenant: string;
  readonly day: DaySnapshot;
  /** Chunks of the day that may contain a matching stream. */
  readonly records: readonly ChunkRecord[];
  /** Whether the selector matches the stream, and retention keeps it. */
  matches(stream: Stream): boolean;
  /** Tenant, day, selector and retention: with the chunks, all inputs of a result. */
  readonly key: string;
}

export interface PartsRequest {
  readonly tenants: readonly string[];
  readonly matchers: readonly Matcher[];
  readonly range: TimeRange;
  readonly visibleOf: VisibleOf;
}

/** Yields parts in the order of tenants and days. Throws errors of the table. */
export async function* dayParts(
  catalog: Catalog,
  { tenants, matchers, range, visibleOf }: PartsRequest,
): AsyncGenerator<DayPart> {
  for (const view of tenantViews(tenants, matchers)) {
    const stored = view.storedMatchers(matchers);
    const selector = compileSelector(stored);
    const selectorKey = JSON.stringify(stored.map(({ name, op, value }) => [name, op, value]));
    const visible = visibleOf(view.tenant);
    for (const day of await catalog.daysForQuery(view.tenant, range.startNs, range.endNs - 1n)) {
      const records = day.records.filter(({ pairs }) => selector.mayMatch(pairs));
      if (records.length === 0) continue;
      const interval = insideDay(day.day, range);
      const kept = keptOfDay(visible, day.day);
      const key = `${view.tenant}\0${day.day}\0${selectorKey}`;
      if (kept === undefined) {
        yield { tenant: view.tenant, day, records, ...interval, matches: selector.matches, key };
        continue;
      }
      // Retention periods that keep the whole day share a start, independent of the current time. The rank of
      // a start and their number therefore identify its streams.
      const starts = [...kept.starts].sort((a, b) => a - b);
      for (const [rank, start] of starts.entries()) {
        if (start >= interval.to) break;
        yield {
          tenant: view.tenant,
          day,
          records,
          from: Math.max(interval.from, start),
          to: interval.to,
          matches: keptAlike(selector, stream => kept.keptFrom(stream.labels) === start),
          key: `${key}\0${rank} of ${starts.length}\0${visible.retention.version}`,
        };
      }
    }
  }
}

function keptAlike(selector: StreamSelector, isAlike: (stream: Stream) => boolean): DayPart['matches'] {
  return stream => selector.matches(stream) && isAlike(stream);
}

/** Whether the interval contains every entry of the chunks. */
export function holdsAll({ from, to }: DayInterval, records: readonly ChunkRecord[]): boolean {
  return records.every(({ first, last }) => first >= from && last < to);
}

/** 48 bits: two such numbers can be added exactly as JavaScript numbers. */
const ID_DIGITS = 12;
const TWO_48 = 2 ** 48;

/**
 * Identifies a set of chunks. IDs are random, so sums of their digits are as good as a hash, without sorting.
 */
export function chunksKey(records: readonly ChunkRecord[]): string {
  let a = 0;
  let b = 0;
  for (const { id } of records) {
    a = (a + Number.parseInt(id.slice(0, ID_DIGITS), 16)) % TWO_48;
    b = (b + Number.parseInt(id.slice(-ID_DIGITS), 16)) % TWO_48;
  }
  return `${records.length} ${a} ${b}`;
}

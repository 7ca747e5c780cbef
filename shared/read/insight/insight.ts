/**
 * Answers requests about stored data without reading lines: volumes, statistics and labels, within the
 * caller's limits.
 */

import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import type { TimeRange } from '../query/day-plan.ts';
import type { Requester } from '../query/engine.ts';
import { limitHalfOpenRange, limitRange } from '../query/query-limits.ts';
import { type DayIndexProvider, visitStreams } from '../query/streams-query.ts';
import { ALL_VISIBLE, type Visibility } from '../query/visibility.ts';
import { DayCache } from './day-cache.ts';
import { type DayPart, dayParts, holdsAll } from './day-parts.ts';
import { type DetectedLabel, DetectedLabels } from './detected-labels.ts';
import { LABELS_QUESTION } from './labels-day.ts';
import { findStats, type IndexStats, NO_STATS } from './stats.ts';
import { findVolumes, type Volumes } from './volume.ts';
import type { VolumeGrouping } from './volume-day.ts';

interface InsightParts {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly clock: Clock;
  /** Default: every footer is read. */
  readonly indexes?: DayIndexProvider;
  /** Default: everything stored counts. */
  readonly visibility?: Visibility;
}

interface VolumeQuery {
  readonly matchers: readonly Matcher[];
  /** Both ends inclusive. */
  readonly range: TimeRange;
  readonly grouping: VolumeGrouping;
  /** Undefined: one sample for the whole range. */
  readonly stepNs: bigint | undefined;
}

/** Maximum series of a response if `volume_max_series` is 0 or larger. */
const MAX_SERIES = 100_000;
const NO_VOLUMES: Volumes = Object.freeze({ timesMs: new Float64Array(0), series: [] });

export class Insight {
  readonly #catalog: Catalog;
  readonly #source: ChunkSource;
  readonly #indexes: DayIndexProvider | undefined;
  readonly #clock: Clock;
  readonly #visibility: Visibility | undefined;
  readonly #cache: DayCache;

  constructor({ catalog, source, clock, indexes, visibility }: InsightParts) {
    this.#catalog = catalog;
    this.#source = source;
    this.#indexes = indexes;
    this.#clock = clock;
    this.#visibility = visibility;
    this.#cache = new DayCache(source, indexes);
  }

  /** Caches, for metrics. */
  get caches(): DayCache['caches'] {
    return this.#cache.caches;
  }

  /** Returns no volumes if the range is entirely outdated. Throws ClientError. */
  async volumes({ range, ...query }: VolumeQuery, requester: Requester): Promise<Volumes> {
    const { tenants, limits, signal } = requester;
    const nowNs = this.#clock.nowNs();
    const allowed = limitRange(range, requester, nowNs);
    if (allowed === undefined) return NO_VOLUMES;
    const { volumeMaxSeries } = limits;
    const maxSeries = volumeMaxSeries > 0 ? Math.min(volumeMaxSeries, MAX_SERIES) : MAX_SERIES;
    const visibleOf = this.#visibleAt(nowNs);
    return findVolumes(this.#catalog, this.#cache, {
      ...query,
      range: allowed,
      tenants,
      maxSeries,
      visibleOf,
      signal,
    });
  }

  /** Returns zeros if the range is entirely outdated. Throws ClientError. */
  async stats(matchers: readonly Matcher[], range: TimeRange, requester: Requester): Promise<IndexStats> {
    const { tenants, signal } = requester;
    const nowNs = this.#clock.nowNs();
    const allowed = limitRange(range, requester, nowNs);
    if (allowed === undefined) return NO_STATS;
    const visibleOf = this.#visibleAt(nowNs);
    return findStats(this.#catalog, this.#cache, { tenants, matchers, range: allowed, visibleOf, signal });
  }

  /**
   * Returns the labels of the streams with an entry in the range, whose end is exclusive. Each stream is
   * visited for days that the range cuts, and for several tenants, whose streams have an additional label.
   * Other days are cached. Throws ClientError.
   */
  async detectedLabels(
    matchers: readonly Matcher[],
    range: TimeRange,
    requester: Requester,
  ): Promise<DetectedLabel[]> {
    const { tenants, signal } = requester;
    const nowNs = this.#clock.nowNs();
    const allowed = limitHalfOpenRange(range, requester, nowNs);
    if (allowed === undefined) return [];
    const visibleOf = this.#visibleAt(nowNs);
    const labels = new DetectedLabels();
    const visit = (part: TimeRange) => {
      const request = { tenants, range: part, selectors: [matchers], signal, visibleOf };
      return visitStreams(this.#catalog, this.#source, request, this.#indexes, labels.add);
    };
    if (tenants.length > 1) {
      await visit(allowed);
      return labels.list();
    }
    const parts = await Array.fromAsync(
      dayParts(this.#catalog, { tenants, matchers, range: allowed, visibleOf }),
    );
    const isWhole = (part: DayPart) => holdsAll(part, part.records);
    const whole = parts.filter(isWhole);
    for await (const { answers } of this.#cache.answers(whole, () => LABELS_QUESTION, signal)) {
      for (const found of answers) labels.merge(found);
    }
    const cutDays = new Set(parts.filter(part => !isWhole(part)).map(({ day }) => day.day));
    for (const day of cutDays) await visit(cutToDay(allowed, day));
    return labels.list();
  }

  #visibleAt(nowNs: bigint) {
    return this.#visibility?.retained(nowNs) ?? (() => ALL_VISIBLE);
  }
}

function cutToDay({ startNs, endNs }: TimeRange, day: number): TimeRange {
  const dayStartNs = BigInt(day) * NS_PER_DAY;
  const dayEndNs = dayStartNs + NS_PER_DAY;
  return {
    startNs: startNs > dayStartNs ? startNs : dayStartNs,
    endNs: endNs < dayEndNs ? endNs : dayEndNs,
  };
}

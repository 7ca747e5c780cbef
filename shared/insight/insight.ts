/** Answers about what is stored, without reading a line: volumes and statistics, within the asker's limits. */
import type { Catalog } from '../catalog/catalog.ts';
import type { Matcher } from '../logql/ast.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import type { TimeRange } from '../query/day-plan.ts';
import type { Asker } from '../query/engine.ts';
import { limitRange } from '../query/query-limits.ts';
import type { DayIndexProvider } from '../query/streams-query.ts';
import { ALL_VISIBLE, type Visibility } from '../query/visibility.ts';
import { DayCache } from './day-cache.ts';
import { findStats, type IndexStats, NO_STATS } from './stats.ts';
import { findVolumes, type Volumes } from './volume.ts';
import type { Grouping } from './volume-day.ts';

export interface InsightParts {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly clock: Clock;
  /** Without it every footer is read. */
  readonly indexes?: DayIndexProvider;
  /** Without it all that is stored counts. */
  readonly visibility?: Visibility;
}

export interface VolumeQuery {
  readonly matchers: readonly Matcher[];
  /** Both ends inclusive. */
  readonly range: TimeRange;
  readonly grouping: Grouping;
  /** Undefined: one sample for all of the range. */
  readonly stepNs: bigint | undefined;
}

/** Where `volume_max_series` is 0 or more than this: what an answer may hold. */
const MAX_SERIES = 100_000;
const NO_VOLUMES: Volumes = Object.freeze({ timesMs: new Float64Array(0), series: [] });

export class Insight {
  private readonly catalog: Catalog;
  private readonly clock: Clock;
  private readonly visibility: Visibility | undefined;
  private readonly cache: DayCache;

  constructor({ catalog, source, clock, indexes, visibility }: InsightParts) {
    this.catalog = catalog;
    this.clock = clock;
    this.visibility = visibility;
    this.cache = new DayCache(source, indexes);
  }

  /** An entirely outdated range has none. Throws ClientError. */
  async volumes({ range, ...query }: VolumeQuery, asker: Asker): Promise<Volumes> {
    const { tenants, limits, signal } = asker;
    const nowNs = this.clock.nowNs();
    const allowed = limitRange(range, limits, nowNs);
    if (allowed === undefined) return NO_VOLUMES;
    const { volumeMaxSeries } = limits;
    const maxSeries = volumeMaxSeries > 0 ? Math.min(volumeMaxSeries, MAX_SERIES) : MAX_SERIES;
    const visibleOf = this.visibleAt(nowNs);
    return findVolumes(this.catalog, this.cache, {
      ...query,
      range: allowed,
      tenants,
      maxSeries,
      visibleOf,
      signal,
    });
  }

  /** An entirely outdated range has none. Throws ClientError. */
  async stats(matchers: readonly Matcher[], range: TimeRange, asker: Asker): Promise<IndexStats> {
    const { tenants, limits, signal } = asker;
    const nowNs = this.clock.nowNs();
    const allowed = limitRange(range, limits, nowNs);
    if (allowed === undefined) return NO_STATS;
    const visibleOf = this.visibleAt(nowNs);
    return findStats(this.catalog, this.cache, { tenants, matchers, range: allowed, visibleOf, signal });
  }

  private visibleAt(nowNs: bigint) {
    return this.visibility?.retained(nowNs) ?? (() => ALL_VISIBLE);
  }
}

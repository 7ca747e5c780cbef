/**
 * Where the walk for orphans stands, kept in the catalog: it goes through the whole store once a day, a part at a time.
 *
 * A catalog that was lost and begins anew knows none of the objects that are there: they would all be orphans. So the
 * first look only notes the time, and objects older than that are left alone, until a rebuild has taken them in.
 */
import type { Catalog } from '../../storage/catalog/catalog.ts';
import {
  type CollectionBounds,
  type CollectorParts,
  collectOrphans,
  type OrphanReport,
} from './collector.ts';

/** From the start of one walk to the start of the next. */
const WALK_EVERY_MS = 24 * 3_600_000;
const STATE = 'orphans';

interface Walk {
  readonly startedMs: number;
  /** Place (objects-by-day.ts) after which to go on; absent where the walk has ended. */
  readonly after?: string;
  readonly ended: boolean;
  /** See OrphanParts. */
  readonly sinceMs: number;
}

/** Goes on with the walk of today; undefined where it has ended. Two at once look at the same objects: no harm. */
export async function walkForOrphans(
  parts: CollectorParts,
  bounds: CollectionBounds,
): Promise<OrphanReport | undefined> {
  const { states } = parts.catalog;
  const nowMs = parts.clock.nowMs();
  const before = await states.read<Walk | undefined>(STATE, undefined);
  const walk = before.value;
  if (walk === undefined) {
    await beginOrphanWalk(parts.catalog, nowMs);
    return undefined;
  }
  if (walk.ended && nowMs - walk.startedMs < WALK_EVERY_MS) return undefined;
  const startedMs = walk.ended ? nowMs : walk.startedMs;
  const { sinceMs } = walk;
  const report = await collectOrphans({ ...parts, sinceMs }, walk.ended ? undefined : walk.after, bounds);
  const ended = report.next === undefined;
  await states.replace(STATE, before, { startedMs, after: report.next, ended, sinceMs });
  return report;
}

/** Notes that the catalog begins now: objects that are older are left alone. Without effect if it has begun before. */
export async function beginOrphanWalk({ states }: Catalog, nowMs: number): Promise<void> {
  const before = await states.read<Walk | undefined>(STATE, undefined);
  if (before.value !== undefined) return;
  await states.replace(STATE, before, { startedMs: nowMs, ended: true, sinceMs: nowMs });
}

/** After a rebuild: every object that holds entries has a record now, whatever its age. */
export async function trustCatalog({ states }: Catalog, nowMs: number): Promise<void> {
  const before = await states.read<Walk | undefined>(STATE, undefined);
  await states.replace(STATE, before, { startedMs: nowMs, ended: true, sinceMs: 0 });
}

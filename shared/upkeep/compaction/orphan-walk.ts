/**
 * Stores in the catalog the position of the walk for orphans, which visits the whole store once a day, in
 * parts.
 *
 * A catalog that was lost and created again knows none of the existing objects: all would be orphans. So the
 * first walk only records the time. Objects older than that are kept until a rebuild adds them to the
 * catalog.
 */
import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import {
  type CollectionBounds,
  type CollectorParts,
  collectOrphans,
  type OrphanReport,
} from './collector.ts';

/** Interval from the start of one walk to the start of the next. */
const WALK_EVERY_MS = MS_PER_DAY;
const STATE = 'orphans';

interface WalkState {
  readonly startedMs: number;
  /** Key (objects-by-day.ts) after which to continue. Absent if the walk has ended. */
  readonly after?: string;
  readonly ended: boolean;
  /** See OrphanParts. */
  readonly sinceMs: number;
}

/**
 * Continues today's walk. Returns undefined if it has ended. Two processes may check the same objects at
 * once.
 */
export async function walkForOrphans(
  parts: CollectorParts,
  bounds: CollectionBounds,
): Promise<OrphanReport | undefined> {
  const { states } = parts.catalog;
  const nowMs = parts.clock.nowMs();
  const before = await states.read<WalkState | undefined>(STATE, undefined);
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

/** Records that the catalog begins now: older objects are kept. No effect if it was recorded before. */
export async function beginOrphanWalk({ states }: Catalog, nowMs: number): Promise<void> {
  const before = await states.read<WalkState | undefined>(STATE, undefined);
  if (before.value !== undefined) return;
  await states.replace(STATE, before, { startedMs: nowMs, ended: true, sinceMs: nowMs });
}

/** Called after a rebuild: every object with entries now has a record, whatever its age. */
export async function trustCatalog({ states }: Catalog, nowMs: number): Promise<void> {
  const before = await states.read<WalkState | undefined>(STATE, undefined);
  await states.replace(STATE, before, { startedMs: nowMs, ended: true, sinceMs: 0 });
}

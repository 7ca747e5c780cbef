/**
 * What was taken out of the days of a run, by version of the day: what a consistent reader may see of it.
 *
 *     version      before `safe`          from `safe` on             after `gone`
 *     a reader     sees what is taken     sees what came for it      does not see what was taken
 *
 * A swap in three steps is safe with its second and gone with its third. In one transaction both are one.
 */

import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../shared/storage/catalog/day-snapshot.ts';

interface Removal {
  readonly safe: number;
  readonly gone: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

interface Publication {
  readonly version: number;
  readonly added: readonly string[];
}

export class SwapHistory {
  readonly #removals = new Map<string, Removal[]>();
  /** The newest swap of each day that came with a new version. */
  readonly #published = new Map<string, Publication>();
  /** Moment at which a chunk was added, by id. */
  readonly #addedAt = new Map<string, number>();

  /** Versions from which on chunks may be missing that a transaction under way takes out, by id. */
  readonly #leaving = new Map<string, number>();

  noteAdded({ id }: ChunkRecord, moment: number): void {
    this.#addedAt.set(id, moment);
  }

  /** While a transaction is applied that makes the day's version `version`, readers may see it in parts. */
  async leavingWith<T>(
    version: number,
    [removed, added]: readonly (readonly ChunkRecord[])[],
    effect: () => Promise<T>,
  ): Promise<T> {
    for (const { id } of removed) this.#leaving.set(id, safeVersion(version, added));
    return effect().finally(() => {
      for (const { id } of removed) this.#leaving.delete(id);
    });
  }

  /** A transaction that took chunks out, or put them in with a new version of their day, or both; `version` is after it. */
  noteSwap(version: number, removed: readonly ChunkRecord[], added: readonly ChunkRecord[]): void {
    const [{ tenant, day }] = [...removed, ...added];
    const name = `${tenant}/${day}`;
    const come = added.map(({ id }) => id);
    const before = this.#published.get(name);
    if (come.length > 0) this.#published.set(name, { version, added: come });
    if (removed.length === 0) return;
    // Two versions before: the first step of the same swap.
    const isThird = come.length === 0 && before?.version === version - 2;
    const removal = {
      safe: safeVersion(version, added),
      gone: version,
      removed: removed.map(({ id }) => id),
      added: isThird ? before.added : come,
    };
    const removals = this.#removals.get(name);
    if (removals === undefined) this.#removals.set(name, [removal]);
    else removals.push(removal);
  }

  /** @param began moment at which the read began: what came later may be missing */
  checkSnapshot(tenant: string, { day, version, records }: DaySnapshot, began: number): void {
    const read = new Set(records.map(({ id }) => id));
    const what = `${tenant}/${day} read in version ${version}`;
    const past = this.#removals.get(`${tenant}/${day}`) ?? [];
    // Chunks that another swap removes may be missing legitimately.
    const mayBeGone = new Set(past.filter(({ safe }) => safe <= version).flatMap(({ removed }) => removed));
    for (const [id, safe] of this.#leaving) if (safe <= version) mayBeGone.add(id);
    for (const { safe, gone, removed, added } of past) {
      const isSafe = safe <= version;
      const stale = gone < version ? removed.find(id => read.has(id)) : undefined;
      mustHold(INVARIANTS.readsOneVersion, stale === undefined, `${what} has ${stale}, gone in ${gone}`);
      const lost = (isSafe ? added : removed).find(
        id => !read.has(id) && !mayBeGone.has(id) && (isSafe || this.#addedAt.get(id)! <= began),
      );
      mustHold(
        INVARIANTS.readsOneVersion,
        lost === undefined,
        `${what} misses ${lost}, of ${safe} to ${gone}`,
      );
    }
  }
}

/** Version from which on chunks may be missing that the transaction of `version` removes. */
function safeVersion(version: number, added: readonly ChunkRecord[]): number {
  return added.length > 0 ? version : version - 1;
}

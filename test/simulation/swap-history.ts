/** The swaps of a run by version of their day: what a consistent reader may see of them. */
import type { DaySnapshot } from '../../shared/catalog/catalog.ts';
import type { ChunkRecord } from '../../shared/catalog/chunk-record.ts';
import { INVARIANTS, mustHold } from '../../shared/model/invariants.ts';

interface PastSwap {
  /** Of the day, after the swap. */
  readonly version: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export class SwapHistory {
  private readonly swaps = new Map<string, PastSwap[]>();
  /** Moment at which a chunk was added, by id. */
  private readonly addedAt = new Map<string, number>();

  noteAdded({ id }: ChunkRecord, moment: number): void {
    this.addedAt.set(id, moment);
  }

  noteSwap(version: number, removed: readonly ChunkRecord[], added: readonly ChunkRecord[]): void {
    const [{ tenant, day }] = removed;
    const swap = { version, removed: removed.map(({ id }) => id), added: added.map(({ id }) => id) };
    const ofDay = this.swaps.get(`${tenant}/${day}`);
    if (ofDay === undefined) this.swaps.set(`${tenant}/${day}`, [swap]);
    else ofDay.push(swap);
  }

  /** @param began moment at which the read began: what came later may be missing */
  checkSnapshot(tenant: string, { day, version, records }: DaySnapshot, began: number): void {
    const read = new Set(records.map(({ id }) => id));
    const what = `${tenant}/${day} read in version ${version}`;
    const past = this.swaps.get(`${tenant}/${day}`) ?? [];
    // What a later swap took away again is missing with reason.
    const gone = new Set(past.filter(swap => swap.version <= version).flatMap(({ removed }) => removed));
    for (const swap of past) {
      const isSeen = swap.version <= version;
      const mixed = (isSeen ? swap.removed : swap.added).find(id => read.has(id));
      mustHold(
        INVARIANTS.readsOneVersion,
        mixed === undefined,
        `${what} has ${mixed} of version ${swap.version}`,
      );
      const lost = (isSeen ? swap.added : swap.removed).find(
        id => !read.has(id) && !gone.has(id) && (isSeen || this.addedAt.get(id)! <= began),
      );
      mustHold(
        INVARIANTS.readsOneVersion,
        lost === undefined,
        `${what} misses ${lost} of version ${swap.version}`,
      );
    }
  }
}

/**
 * Merges a part of a tenant's day under the lease of that part. A part is a run of chunks of one window, and its oldest
 * chunk names it. So a repeated call, or a function that another holder of the day called, never merges a part that is being
 * merged. It waits until the merge ends, or until the lease of a lost function ends.
 *
 *     function A   part p: take ── merge, renew ── lost
 *     function B   part p:          wait ────────────── lease ends: take ── merge ── release
 *     function C   part q: take ── merge ── release
 *
 * The lease of a part protects work, not data. Outputs are published under the lease of the day (merge-crew.ts).
 */
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { type Leases, partLease } from '../../storage/catalog/leases.ts';

/** Renewed after a third of this time. The part of a lost function waits for so long. */
export const PART_LEASE_MS = 30_000;

interface PartOfDay {
  readonly tenant: string;
  readonly day: number;
  /** By age. */
  readonly inputs: readonly ChunkRecord[];
}

/** Another function merges the part. */
export class PartBusyError extends Error {
  constructor(name: string) {
    super(`another function merges ${name}`);
    this.name = 'PartBusyError';
  }
}

/**
 * Calls `merge` once the lease is free. It must call its argument often, which also calls `hold`. Throws PartBusyError,
 * LeaseLostError, and what `hold`, `merge` and the table throw.
 */
export async function underPartLease<T>(
  leases: Leases,
  { tenant, day, inputs }: PartOfDay,
  hold: () => Promise<void>,
  merge: (hold: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const name = partLease(tenant, day, inputs[0].id);
  const lease = await leases.takePatiently(name, PART_LEASE_MS, hold);
  if (lease === undefined) throw new PartBusyError(name);
  const renew = leases.holder(lease, PART_LEASE_MS);
  try {
    return await merge(async () => {
      await hold();
      await renew();
    });
  } finally {
    await leases.release(lease).catch(() => undefined);
  }
}

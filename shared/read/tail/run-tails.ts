/**
 * Serves the tails of a tenant for a while: what the dispatcher function of an account does. At most one run of a tenant at
 * a time (a lease), because two would post in no order; it goes on while there is something to serve, and `idleMs` longer, so
 * that pushes need not call for it again. Where it dies, what it had posted since its cursor was written is posted again.
 */
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { LeaseLostError } from '../../storage/catalog/leases.ts';
import type { TenantTailParts } from './tail-parts.ts';
import { TenantTail } from './tenant-tail.ts';

export interface RunOptions {
  /** Begins no step after this time, Unix ms. */
  readonly untilMs: number;
  readonly idleMs: number;
  /** Between two looks at the log. */
  readonly pollMs: number;
}

const LEASE_MS = 30_000;
/** Frames that wait at the end of a run get so long. */
const DRAIN_MS = 5_000;

/** False where another run of the tenant is under way. Throws what table and store throw. */
export async function runTails(
  tenant: string,
  parts: TenantTailParts,
  options: RunOptions,
): Promise<boolean> {
  const { catalog, clock, owner } = parts;
  const lease = await catalog.leases.take(`tail/${owner}/${tenant}`, LEASE_MS);
  if (lease === undefined) return false;
  const tail = new TenantTail(tenant, parts);
  try {
    const hold = catalog.leases.holder(lease, LEASE_MS);
    let busyMs = clock.nowMs();
    do {
      await hold();
      const { commits } = await tail.step({ readsLog: true });
      if (commits > 0 || tail.isJoining) busyMs = clock.nowMs();
      if (tail.count === 0) break;
      await clock.sleep(options.pollMs);
    } while (clock.nowMs() < options.untilMs && clock.nowMs() - busyMs < options.idleMs);
    await drain(tail, parts);
  } catch (error) {
    // Somebody else serves them now.
    if (!(error instanceof LeaseLostError)) throw error;
    return false;
  } finally {
    await tail.stop();
    await catalog.leases.release(lease);
  }
  return true;
}

/** All tenants that have tails at the owner, side by side. Failures of one do not end the others; they are thrown at the end. */
export async function runAllTails(
  parts: TenantTailParts & { readonly catalog: Catalog },
  options: RunOptions,
): Promise<number> {
  const tenants = await parts.catalog.subscriptions.tenantsOf(parts.owner);
  const runs = await Promise.allSettled(tenants.map(tenant => runTails(tenant, parts, options)));
  const failures = runs.filter(run => run.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failures.length > 0) throw new AggregateError(failures, 'tails could not be served');
  return runs.filter(run => run.status === 'fulfilled' && run.value).length;
}

async function drain(tail: TenantTail, { clock }: TenantTailParts): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(DRAIN_MS, done.signal).catch(() => undefined);
  await Promise.race([tail.drained(), late]);
  done.abort();
}

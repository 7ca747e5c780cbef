/**
 * Serves the tails of a tenant for a while, for the dispatcher function of an account. A lease allows at most
 * one run per tenant, because the posts of two would be unordered. A run continues while there is something
 * to serve, and `idleMs` longer, so that pushes need not invoke it again. After a crash, entries posted since
 * the last cursor write are posted again.
 */
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { LeaseLostError } from '../../storage/catalog/leases.ts';
import type { TenantTailParts } from './tail-parts.ts';
import { TenantTail } from './tenant-tail.ts';

interface RunOptions {
  /** Time after which no step starts, Unix ms. */
  readonly untilMs: number;
  readonly idleMs: number;
  /** Interval between two reads of the log. */
  readonly pollMs: number;
}

const LEASE_MS = 30_000;
/** Maximum time for posting queued frames at the end of a run. */
const DRAIN_MS = 5_000;

/** Returns false if another run of the tenant is in progress. Throws errors of table and store. */
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
    // Another run has taken over.
    if (!(error instanceof LeaseLostError)) throw error;
    return false;
  } finally {
    await tail.stop();
    await catalog.leases.release(lease);
  }
  return true;
}

/**
 * Serves all tenants with tails at the owner, in parallel. A failure does not end the others, and is thrown
 * at the end.
 */
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

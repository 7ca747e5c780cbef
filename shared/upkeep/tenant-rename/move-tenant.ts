/**
 * Renames a tenant, for example after a change of `no_auth_tenant` on existing data:
 *
 *     remember the move -> copy delete requests -> chunks -> rules -> saved queries and boards -> usage -> tokens -> remove old delete requests -> done
 *
 * You can kill it at any time and repeat it with the same names: every step finds its remaining work. Until
 * it is complete no other move starts. The new name must not have data, because delete requests of one tenant
 * would hide entries of the other.
 *
 * Pitfall: during a rename, entries exist under the old name or under both, so stop every process that uses
 * the store first. Heartbeats check this (`refuseWhileUsed`). They still show a dead process for one minute.
 */

import { checkTenantId } from '../../base/model/tenant-id.ts';
import { LeaseLostError } from '../../storage/catalog/leases.ts';
import { shownState } from '../../storage/catalog/membership.ts';
import { SAVED_KINDS } from '../../storage/catalog/saved-items.ts';
import { moveDays } from './move-days.ts';
import { type Move, type MoveParts, MoveRefusedError, type MoveTotals } from './move-parts.ts';
import {
  copyDeleteRequests,
  moveRules,
  moveSaved,
  moveTokens,
  moveUsage,
  removeDeleteRequests,
} from './move-records.ts';

interface MoveOptions {
  readonly from: string;
  readonly to: string;
  readonly graceMs: number;
  readonly progress?: (totals: Readonly<MoveTotals>) => void;
}

interface RenameState {
  readonly from: string;
  readonly to: string;
}

const STATE = 'tenant-move';
const LEASE = 'tenant-move';
/** Renewed after one third of this time. After a kill, the next run waits no longer than this. */
const LEASE_MS = 120_000;
/** Maximum number of processes that a refusal names. */
const MAX_NAMED = 5;

/** Throws MoveRefusedError if a process or function instance has a recent heartbeat. */
export async function refuseWhileUsed({ catalog, clock }: MoveParts): Promise<void> {
  const nowMs = clock.nowMs();
  const alive = (await catalog.members.list()).filter(member => shownState(member, nowMs) !== 'UNHEALTHY');
  if (alive.length === 0) return;
  const names = alive.slice(0, MAX_NAMED).map(({ address }) => address);
  const more = alive.length - names.length;
  throw new MoveRefusedError(
    `the store is in use by ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}: stop them first. ` +
      'A dead process is forgotten after 1 minute, an idle function after 5',
  );
}

/** Throws MoveRefusedError, CorruptionError, and the errors of the stores. Data moved before stays moved. */
export async function moveTenant(parts: MoveParts, options: MoveOptions): Promise<MoveTotals> {
  const { from, to, graceMs, progress } = options;
  for (const tenant of [from, to]) {
    if (tenant === '') throw new MoveRefusedError('the tenant name is empty; give two tenant names');
    checkTenantId(tenant);
  }
  if (from === to) throw new MoveRefusedError('both tenant names are the same');
  const { catalog } = parts;
  const lease = await catalog.leases.take(LEASE, LEASE_MS);
  if (lease === undefined) {
    throw new MoveRefusedError(
      `another move is in progress; the lease of a dead one ends after ${LEASE_MS / 1000} seconds`,
    );
  }
  const hold = catalog.leases.holder(lease, LEASE_MS);
  const move: Move = { from, to, lease, hold, graceMs, totals: noTotals(), progress };
  try {
    await remember(parts, move);
    await copyDeleteRequests(parts, move);
    await moveDays(parts, move);
    await moveRules(parts, move);
    await moveSaved(parts, move);
    await moveUsage(parts, move);
    await moveTokens(parts, move);
    await removeDeleteRequests(parts, move);
    for (const tenant of [from, to]) await catalog.generations.increase(tenant);
    await forget(parts);
    return move.totals;
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    throw new MoveRefusedError(
      `${error.message}: the machine paused for too long; run the same command again`,
    );
  } finally {
    await catalog.leases.release(lease).catch(() => undefined);
  }
}

/** Throws MoveRefusedError if another move is unfinished, or if this one is new and its target has data. */
async function remember({ catalog }: MoveParts, { from, to }: Move): Promise<void> {
  const before = await catalog.states.read<RenameState | null>(STATE, null);
  if (before.value !== null) {
    const { from: first, to: second } = before.value;
    if (first === from && second === to) return;
    throw new MoveRefusedError(`the move of ${first} to ${second} is unfinished; run it again first`);
  }
  if (await isEmpty(catalog, from)) throw new MoveRefusedError(`tenant ${from} has no data`);
  if (!(await isEmpty(catalog, to))) {
    throw new MoveRefusedError(
      `tenant ${to} already has entries, rules, delete requests, saved queries or boards`,
    );
  }
  if (!(await catalog.states.replace<RenameState | null>(STATE, before, { from, to }))) {
    throw new MoveRefusedError('another move has just started; retry later');
  }
}

async function isEmpty(catalog: MoveParts['catalog'], tenant: string): Promise<boolean> {
  if ((await catalog.ruleGroups.list(tenant)).length > 0) return false;
  if ((await catalog.deletes.list(tenant)).length > 0) return false;
  for (const kind of SAVED_KINDS) if ((await catalog.saved.list(tenant, kind)).length > 0) return false;
  for (const { day } of await catalog.allDays(tenant)) {
    // A day can remain for a while after its last chunk is gone.
    const snapshot = await catalog.day(tenant, day);
    if (snapshot !== undefined && snapshot.records.length > 0) return false;
  }
  return true;
}

async function forget({ catalog }: MoveParts): Promise<void> {
  const before = await catalog.states.read<RenameState | null>(STATE, null);
  await catalog.states.replace<RenameState | null>(STATE, before, null);
}

function noTotals(): MoveTotals {
  return {
    days: 0,
    chunks: 0,
    inlineChunks: 0,
    rows: 0,
    copiedBytes: 0,
    deleteRequests: 0,
    ruleGroups: 0,
    savedItems: 0,
    usageRecords: 0,
    tokens: 0,
  };
}

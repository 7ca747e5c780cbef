/**
 * A tenant under another name, for whoever changes `no_auth_tenant` on existing data, or renames a tenant:
 *
 *     remember the move -> delete requests copied -> chunks -> rules -> saved queries and boards -> usage -> tokens -> old delete requests removed -> done
 *
 * It can be killed at any moment and is then repeated with the same names: every step finds out by itself what is left of
 * it. Until it is done no other move begins, and none into a tenant that has something already: delete requests of one
 * would hide entries of the other.
 *
 * What a reader would get wrong: while it runs the entries are under both names or under the old one, so nothing may use the
 * store. That is checked by heartbeats (`refuseWhileUsed`), which see a process that died for another minute.
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

export interface MoveOptions {
  readonly from: string;
  readonly to: string;
  readonly graceMs: number;
  readonly progress?: (totals: Readonly<MoveTotals>) => void;
}

interface Remembered {
  readonly from: string;
  readonly to: string;
}

const STATE = 'tenant-move';
const LEASE = 'tenant-move';
/** Renewed at a third of it; after a kill the next run waits no longer than this. */
const LEASE_MS = 120_000;
/** Processes that a refusal names. */
const MAX_NAMED = 5;

/** Throws MoveRefusedError where a process or function instance has told of itself lately. */
export async function refuseWhileUsed({ catalog, clock }: MoveParts): Promise<void> {
  const nowMs = clock.nowMs();
  const alive = (await catalog.members.list()).filter(member => shownState(member, nowMs) !== 'UNHEALTHY');
  if (alive.length === 0) return;
  const names = alive.slice(0, MAX_NAMED).map(({ address }) => address);
  const more = alive.length - names.length;
  throw new MoveRefusedError(
    `the store is in use by ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}: stop them first; ` +
      'one that died is forgotten after a minute, an idle function after five',
  );
}

/** Throws MoveRefusedError, what the stores throw, and CorruptionError; what was moved stays moved. */
export async function moveTenant(parts: MoveParts, options: MoveOptions): Promise<MoveTotals> {
  const { from, to, graceMs, progress } = options;
  for (const tenant of [from, to]) {
    if (tenant === '') throw new MoveRefusedError('a tenant has a name');
    checkTenantId(tenant);
  }
  if (from === to) throw new MoveRefusedError('both tenants are the same');
  const { catalog } = parts;
  const lease = await catalog.leases.take(LEASE, LEASE_MS);
  if (lease === undefined) {
    throw new MoveRefusedError(
      `another move is under way; one that died is forgotten after ${LEASE_MS / 1000} seconds`,
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
    throw new MoveRefusedError(`${error.message}: the machine stood still for long; run the same again`);
  } finally {
    await catalog.leases.release(lease).catch(() => undefined);
  }
}

/** Throws MoveRefusedError where another move is unfinished, or where this one is new and its end is no empty tenant. */
async function remember({ catalog }: MoveParts, { from, to }: Move): Promise<void> {
  const before = await catalog.states.read<Remembered | null>(STATE, null);
  if (before.value !== null) {
    const { from: first, to: second } = before.value;
    if (first === from && second === to) return;
    throw new MoveRefusedError(`the move of ${first} to ${second} was not finished: do that first`);
  }
  if (await isEmpty(catalog, from)) throw new MoveRefusedError(`there is nothing of a tenant ${from}`);
  if (!(await isEmpty(catalog, to))) {
    throw new MoveRefusedError(
      `the tenant ${to} has entries, rules, delete requests, saved queries or boards already`,
    );
  }
  if (!(await catalog.states.replace<Remembered | null>(STATE, before, { from, to }))) {
    throw new MoveRefusedError('another move has begun');
  }
}

async function isEmpty(catalog: MoveParts['catalog'], tenant: string): Promise<boolean> {
  if ((await catalog.ruleGroups.list(tenant)).length > 0) return false;
  if ((await catalog.deletes.list(tenant)).length > 0) return false;
  for (const kind of SAVED_KINDS) if ((await catalog.saved.list(tenant, kind)).length > 0) return false;
  for (const { day } of await catalog.allDays(tenant)) {
    // A day may stay for a while when its last chunk has gone.
    const snapshot = await catalog.day(tenant, day);
    if (snapshot !== undefined && snapshot.records.length > 0) return false;
  }
  return true;
}

async function forget({ catalog }: MoveParts): Promise<void> {
  const before = await catalog.states.read<Remembered | null>(STATE, null);
  await catalog.states.replace<Remembered | null>(STATE, before, null);
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

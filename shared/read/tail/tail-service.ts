/**
 * Opens and ends tails: the checks after the connection is open (docs/dev/wire-format.md#after-the-upgrade),
 * the limit of tails per tenant, and the records.
 */

import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Connections } from '../../base/ports/connections.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { FrameForm, Subscription } from '../../storage/catalog/subscriptions.ts';
import { checkBlocked } from '../query/blocked.ts';
import { checkExpr, limitEntries, limitRange } from '../query/query-limits.ts';
import { MARKED_MS } from './bounds.ts';
import { refusalOf } from './reasons.ts';
import { compileTailQuery, ONLY_LOGS } from './tail-query.ts';

/** Request of a client, validated as far as possible before the connection is open. */
export interface TailRequest {
  readonly tenant: string;
  readonly query: string;
  readonly form: FrameForm;
  readonly flags: readonly string[];
  readonly limit: number;
  readonly startNs: bigint;
  readonly delayMs: number;
}

interface TailServiceParts {
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly owner: string;
  limitsOf(tenant: string): Limits;
}

export class TailService {
  readonly #parts: TailServiceParts;
  /** Last running opening of each tenant. Two at once must not both take the last free slot. */
  readonly #opening = new Map<string, Promise<unknown>>();

  constructor(parts: TailServiceParts) {
    this.#parts = parts;
  }

  /**
   * Creates a tail. Frames follow when its owner serves it. If it cannot be served, stores nothing and
   * returns the reason for closing. Throws errors of the table.
   */
  async open(request: TailRequest, connectionId: string): Promise<string | undefined> {
    const { tenant } = request;
    const before = this.#opening.get(tenant) ?? Promise.resolve();
    const opened = before.catch(() => undefined).then(() => this.#openNow(request, connectionId));
    this.#opening.set(tenant, opened);
    try {
      return await opened;
    } finally {
      if (this.#opening.get(tenant) === opened) this.#opening.delete(tenant);
    }
  }

  /** Stores a tail that only reports why it cannot be served, if the connection cannot be posted to yet. */
  async refuse(request: TailRequest, connectionId: string, refusal: string): Promise<void> {
    await this.#parts.catalog.subscriptions.add({ ...this.#subscriptionOf(request, connectionId), refusal });
  }

  /** Removes the tail of a connection and returns its tenant. */
  async close(connectionId: string): Promise<string | undefined> {
    const { catalog, owner } = this.#parts;
    const tenant = await catalog.subscriptions.tenantOf(owner, connectionId);
    if (tenant !== undefined) await catalog.subscriptions.remove({ tenant, owner, connectionId });
    return tenant;
  }

  async #openNow(request: TailRequest, connectionId: string): Promise<string | undefined> {
    const { catalog } = this.#parts;
    const { tenant } = request;
    try {
      this.#check(request);
      await this.#checkCount(tenant);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return error.message === ONLY_LOGS ? ONLY_LOGS : refusalOf(error);
    }
    // Before the record: as soon as the tail is visible, commits must be logged.
    await catalog.tailLog.mark(tenant, MARKED_MS);
    await catalog.subscriptions.add(this.#subscriptionOf(request, connectionId));
    return undefined;
  }

  #subscriptionOf(request: TailRequest, connectionId: string): Subscription {
    const { owner, clock } = this.#parts;
    const { startNs, ...rest } = request;
    return { ...rest, owner, connectionId, startNs: `${startNs}`, createdMs: clock.nowMs() };
  }

  /** Throws BadRequestError. */
  #check(request: TailRequest): void {
    const { clock, limitsOf } = this.#parts;
    const limits = limitsOf(request.tenant);
    const expr = parseQuery(request.query);
    if (expr.kind !== 'log') throw new BadRequestError(ONLY_LOGS);
    const nowNs = clock.nowNs();
    const { startNs } = request;
    limitRange({ startNs, endNs: nowNs }, { limits }, nowNs);
    // A lookback is a query, with the cost and limits of one.
    limitEntries(request.limit, { limits });
    checkExpr(expr, limits);
    checkBlocked(request.query, expr, '', limits.blockedQueries);
    compileTailQuery(request, clock);
  }

  /**
   * Removes tails of crashed processes whose connections can be looked up, then checks the limit. Throws
   * BadRequestError.
   */
  async #checkCount(tenant: string): Promise<void> {
    const { catalog, connections, owner, limitsOf } = this.#parts;
    const most = limitsOf(tenant).maxConcurrentTailRequests;
    if (most <= 0) return;
    const isServed = ({ refusal }: Subscription) => refusal === undefined;
    let tails = (await catalog.subscriptions.list(tenant)).filter(isServed);
    if (tails.length >= most) {
      for (const tail of tails) {
        if (tail.owner !== owner || (await connections.get(tail.connectionId)) !== undefined) continue;
        await catalog.subscriptions.remove(tail);
      }
      tails = (await catalog.subscriptions.list(tenant)).filter(isServed);
    }
    if (tails.length < most) return;
    throw new BadRequestError(
      `max concurrent tail requests limit exceeded, count > limit (${tails.length + 1} > ${most})`,
    );
  }
}

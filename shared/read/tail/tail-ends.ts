/**
 * How the tails of a tenant end by the store's doing: the connection is closed with a reason, and the record goes. A record that
 * cannot be removed expires by itself.
 */

import { ClientError, messageOf } from '../../base/model/errors.ts';
import type { Subscription, Subscriptions } from '../../storage/catalog/subscriptions.ts';
import { CLOSE_ERROR, INTERNAL, refusalOf } from './reasons.ts';
import type { TenantTailParts } from './tail-parts.ts';

export interface TailEndsParts {
  readonly tenant: string;
  readonly parts: TenantTailParts;
  /** Serves the tail of a connection no more. */
  readonly drop: (connectionId: string) => void;
  /** From then on failures are those of work that was given up. */
  readonly stopping: AbortSignal;
}

export class TailEnds {
  readonly #own: TailEndsParts;

  constructor(parts: TailEndsParts) {
    this.#own = parts;
  }

  /** The connection is gone, or cannot be posted to. */
  gone(subscription: Subscription, error: unknown): void {
    const { tenant, parts, drop } = this.#own;
    if (error !== undefined) {
      parts.log.warn({ tenant, err: error }, 'posting to a tail failed');
      this.later(subscription, messageOf(error));
      return;
    }
    drop(subscription.connectionId);
    this.#subscriptions.remove(subscription).catch(failure => this.#cannotEnd(failure));
  }

  /** Its query, or what it reads, fails. */
  failed(subscription: Subscription, error: unknown): void {
    const { tenant, parts, stopping } = this.#own;
    if (stopping.aborted) return;
    if (error instanceof ClientError) {
      this.later(subscription, refusalOf(error));
      return;
    }
    parts.log.error({ tenant, err: error }, 'tail failed');
    this.later(subscription, INTERNAL);
  }

  later(subscription: Subscription, reason: string): void {
    this.now(subscription, reason).catch(failure => this.#cannotEnd(failure));
  }

  /** Throws what the table throws, and what closing does; the tail is served no more all the same. */
  async now(subscription: Subscription, reason: string): Promise<void> {
    const { parts, drop } = this.#own;
    drop(subscription.connectionId);
    await parts.connections.close(subscription.connectionId, { code: CLOSE_ERROR, reason });
    await this.#subscriptions.remove(subscription);
  }

  get #subscriptions(): Subscriptions {
    return this.#own.parts.catalog.subscriptions;
  }

  #cannotEnd(error: unknown): void {
    const { tenant, parts } = this.#own;
    parts.log.warn({ tenant, err: error }, 'recording the end of a tail failed');
  }
}

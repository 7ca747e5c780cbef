/**
 * Ends tails of a tenant from the store's side: the connection is closed with a reason, and the record is
 * removed. A record that cannot be removed expires.
 */

import { ClientError, messageOf } from '../../base/model/errors.ts';
import type { Subscription, Subscriptions } from '../../storage/catalog/subscriptions.ts';
import { CLOSE_ERROR, INTERNAL, refusalOf } from './reasons.ts';
import type { TenantTailParts } from './tail-parts.ts';

interface TailEndsParts {
  readonly tenant: string;
  readonly parts: TenantTailParts;
  /** Stops serving the tail of a connection. */
  readonly drop: (connectionId: string) => void;
  /** After it is aborted, failures belong to abandoned work. */
  readonly stopping: AbortSignal;
}

export class TailEnds {
  readonly #own: TailEndsParts;

  constructor(parts: TailEndsParts) {
    this.#own = parts;
  }

  /** Ends a tail whose connection is gone, or cannot be posted to. */
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

  /** Ends a tail whose query or data failed. */
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

  /** Ends a tail now. Throws errors of the table and of closing. The tail is no longer served in any case. */
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

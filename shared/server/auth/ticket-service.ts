/** Creates and redeems tickets for live tails of browsers: see shared/storage/catalog/tickets.ts. */

import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { Tickets } from '../../storage/catalog/tickets.ts';
import { TooManyAttemptsError, UnauthenticatedError } from './errors.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import type { Identity } from './identity.ts';
import { hashOf } from './token-text.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** A page requests a ticket and connects immediately. */
export const TICKET_MS = 60_000;
const TICKET_BYTES = 32;
const FORM = /^[0-9a-f]{64}$/;

interface GivenTicket {
  readonly ticket: string;
  readonly expiresMs: number;
}

interface TicketParts {
  readonly tickets: Tickets;
  readonly verifier: TokenVerifier;
  readonly attempts: FailedAttempts;
  readonly clock: Clock;
  readonly ids: Ids;
}

export class TicketService {
  readonly #parts: TicketParts;

  constructor(parts: TicketParts) {
    this.#parts = parts;
  }

  /** Creates a ticket for tails of these tenants. The caller has checked them. */
  async give({ tokenId }: Identity, tenants: readonly string[]): Promise<GivenTicket> {
    const { ids, clock, tickets } = this.#parts;
    const ticket = ids.randomHex(TICKET_BYTES);
    const expiresMs = Math.trunc(clock.nowMs()) + TICKET_MS;
    await tickets.add(hashOf(ticket).toString('hex'), { tokenId, tenants, expiresMs });
    return { ticket, expiresMs };
  }

  /**
   * Resolves to the identity for tailing. Works once per ticket. Throws UnauthenticatedError,
   * TooManyAttemptsError.
   */
  async redeem(ticket: string, address: string): Promise<Identity> {
    const { attempts, tickets, verifier } = this.#parts;
    if (!attempts.take(address)) throw new TooManyAttemptsError();
    const record = FORM.test(ticket) ? await tickets.take(hashOf(ticket).toString('hex')) : undefined;
    if (record === undefined)
      throw new UnauthenticatedError('invalid ticket: already used, or older than 1 minute');
    await verifier.checkStillGood(record.tokenId);
    attempts.release(address);
    return { tokenId: record.tokenId, name: 'ticket', scopes: ['logs:read'], tenants: record.tenants };
  }
}

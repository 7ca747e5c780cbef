/**
 * Closes connections whose token ended after they were opened: a tail may be open for an hour, but a revoked
 * token must not work.
 */

import type { ServerLog } from '../shared/base/runtime/log.ts';
import { UnauthenticatedError } from '../shared/server/auth/errors.ts';
import { type TokenVerifier, VERIFIED_MS } from '../shared/server/auth/token-verifier.ts';
import { timerWhile } from './timer-while.ts';

interface TokenWatchOptions {
  readonly verifier: Pick<TokenVerifier, 'checkStillGood'>;
  /** Closes a connection with a reason. */
  readonly end: (connectionId: string, reason: string) => Promise<void>;
  readonly log: ServerLog;
  /** Default: the time for which token checks are cached. */
  readonly periodMs?: number;
}

export interface TokenWatch {
  add(connectionId: string, tokenId: string): void;
  remove(connectionId: string): void;
  stop(): void;
}

export function watchTokens({ verifier, end, log, periodMs = VERIFIED_MS }: TokenWatchOptions): TokenWatch {
  /** Connections per token. The gateway limits their number. */
  const byToken = new Map<string, Set<string>>();
  const tokenOf = new Map<string, string>();

  async function look(tokenId: string): Promise<void> {
    try {
      await verifier.checkStillGood(tokenId);
    } catch (error) {
      if (error instanceof UnauthenticatedError) {
        for (const id of [...(byToken.get(tokenId) ?? [])]) await end(id, error.message);
      } else log.warn({ err: error }, 'token lookup for open tails failed');
    }
  }

  const looking = timerWhile(
    () => byToken.size > 0,
    () => {
      for (const tokenId of byToken.keys()) void look(tokenId);
    },
    periodMs,
  );

  return {
    add(connectionId, tokenId) {
      tokenOf.set(connectionId, tokenId);
      const connections = byToken.get(tokenId) ?? new Set();
      byToken.set(tokenId, connections.add(connectionId));
      looking.start();
    },
    remove(connectionId) {
      const tokenId = tokenOf.get(connectionId);
      if (tokenId === undefined) return;
      tokenOf.delete(connectionId);
      const connections = byToken.get(tokenId);
      connections?.delete(connectionId);
      if (connections?.size === 0) byToken.delete(tokenId);
    },
    stop: () => looking.stop(),
  };
}

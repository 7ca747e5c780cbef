/** Ends connections whose token has ended since they were opened: a tail may live for an hour, a revoked token may not. */

import type { ServerLog } from '../shared/base/runtime/log.ts';
import { UnauthenticatedError } from '../shared/server/auth/errors.ts';
import { type TokenVerifier, VERIFIED_MS } from '../shared/server/auth/token-verifier.ts';
import { timerWhile } from './timer-while.ts';

export interface TokenWatchOptions {
  readonly verifier: Pick<TokenVerifier, 'checkStillGood'>;
  /** Ends a connection and says why. */
  readonly end: (connectionId: string, reason: string) => Promise<void>;
  readonly log: ServerLog;
  /** Default: as long as a token is believed elsewhere. */
  readonly periodMs?: number;
}

export interface TokenWatch {
  add(connectionId: string, tokenId: string): void;
  remove(connectionId: string): void;
  stop(): void;
}

export function watchTokens({ verifier, end, log, periodMs = VERIFIED_MS }: TokenWatchOptions): TokenWatch {
  /** Connections of each token; the gateway bounds how many there are. */
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

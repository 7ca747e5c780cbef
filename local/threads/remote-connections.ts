/**
 * Sockets of live tails that front threads hold. Other threads use them through requests, like functions use
 * API Gateway.
 */
import type { ConnectionInfo, Connections, PostOutcome } from '../../shared/base/ports/connections.ts';
import { ownBytes } from './messages.ts';
import type { RoleAsk } from './role-messages.ts';

export function remoteConnections(ask: (question: RoleAsk) => Promise<unknown>): Connections {
  return {
    async post(connectionId, message) {
      const own = ownBytes(message);
      // Sends a copy, because several tails may share a frame.
      return (await ask({ kind: 'post', connectionId, message: own })) as PostOutcome;
    },
    get: async connectionId =>
      (await ask({ kind: 'connection', connectionId })) as ConnectionInfo | undefined,
    async close(connectionId, options) {
      await ask({ kind: 'close', connectionId, options });
    },
  };
}

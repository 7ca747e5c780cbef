/** Limits of a gateway: those of the configuration, divided by the number of front threads on the port. */
import type { Config } from '../shared/server/admin/config-fields.ts';
import type { GatewayOptions } from './gateway.ts';
import { maxConnections } from './gateway-connections.ts';

/** Configuration for one of `fronts` front threads. */
export function configOfFront(config: Config, fronts: number): Config {
  const { logboom } = config;
  const share = (bound: number) => Math.ceil(bound / fronts);
  return {
    ...config,
    logboom: {
      ...logboom,
      maxConcurrentRequests: share(logboom.maxConcurrentRequests),
      // Each front must have space for the largest allowed push.
      maxBufferedBodyBytes: Math.min(
        logboom.maxBufferedBodyBytes,
        Math.max(share(logboom.maxBufferedBodyBytes), config.distributor.maxRecvMsgSize),
      ),
      maxWebSockets: share(logboom.maxWebSockets),
    },
  };
}

/** @param config configuration of one front */
export function gatewayLimits(
  { logboom, server }: Config,
  fronts: number,
): Omit<GatewayOptions['limits'], 'ofRequest'> {
  return {
    maxConnections: Math.ceil(maxConnections() / fronts),
    maxConcurrentRequests: logboom.maxConcurrentRequests,
    maxBufferedBodyBytes: logboom.maxBufferedBodyBytes,
    readTimeoutMs: server.readTimeoutMs,
    writeTimeoutMs: server.writeTimeoutMs,
    idleTimeoutMs: server.idleTimeoutMs,
    drainTimeoutMs: server.gracefulShutdownTimeoutMs,
  };
}

/** Bounds of a gateway: those of the configuration, shared by as many as listen on the port. */
import type { Config } from '../shared/server/admin/config-fields.ts';
import type { GatewayOptions } from './gateway.ts';
import { maxConnections } from './gateway-connections.ts';

/** The configuration as one of so many front threads has it. */
export function configOfFront(config: Config, fronts: number): Config {
  const { logboom } = config;
  const share = (bound: number) => Math.ceil(bound / fronts);
  return {
    ...config,
    logboom: {
      ...logboom,
      maxConcurrentRequests: share(logboom.maxConcurrentRequests),
      // The largest push that is allowed must find room in each.
      maxBufferedBodyBytes: Math.min(
        logboom.maxBufferedBodyBytes,
        Math.max(share(logboom.maxBufferedBodyBytes), config.distributor.maxRecvMsgSize),
      ),
      maxWebSockets: share(logboom.maxWebSockets),
    },
  };
}

/** @param config of one front */
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

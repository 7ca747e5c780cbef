/** Assembles the services that open and serve live tails, over the services of a context. */

import type { Ids } from '../../base/ports/clock.ts';
import type { Connections } from '../../base/ports/connections.ts';
import type { FrameLimits } from '../../read/tail/frames.ts';
import type { TailLogger, TenantTailParts } from '../../read/tail/tail-parts.ts';
import { TailService } from '../../read/tail/tail-service.ts';
import { observeConnections } from '../admin/metrics/tail-metrics.ts';
import type { HttpContext } from './context.ts';

interface TailTransport {
  readonly connections: Connections;
  /** Owner of the connections; see Subscriptions. */
  readonly owner: string;
  readonly frames: FrameLimits;
  readonly log: TailLogger;
  /** See TenantTailParts. */
  readonly joinMs: number;
  readonly savesCursor: boolean;
  readonly hearsAll?: boolean;
  readonly keepAliveMs?: number;
  /** Maximum duration of a connection, ms. The configuration may set a lower one. */
  readonly maxDurationMs?: number;
}

/**
 * Frame sizes of a gateway on one machine. Frames are small, so that the first of many entries arrive soon.
 */
export const SOCKET_FRAMES: FrameLimits = { targetBytes: 256 * 1024, maxBytes: 16 * 1024 * 1024 };
/**
 * API Gateway bills messages per 32 KB and refuses messages over 128 KB. Both limits use 1 KB = 1,000 bytes,
 * to stay below.
 */
export const API_GATEWAY_FRAMES: FrameLimits = { targetBytes: 32_000, maxBytes: 128_000 };
/** Owner name in a process that does not share its store. */
export const ONLY_OWNER = 'local';
export const API_GATEWAY_OWNER = 'api-gateway';

export interface Tails {
  readonly service: TailService;
  readonly parts: TenantTailParts;
}

export function assembleTails(context: HttpContext, transport: TailTransport): Tails {
  const { clock, reading, config } = context;
  const { owner } = transport;
  const connections = observeConnections(transport.connections, context.metrics.registry);
  const limitsOf = (tenant: string) => context.limitsOf(tenant);
  const { catalog, source, visibility } = reading;
  return {
    service: new TailService({ catalog, connections, clock, owner, limitsOf }),
    parts: {
      catalog,
      source,
      visibility,
      clock,
      limitsOf,
      connections,
      log: transport.log,
      owner,
      frames: transport.frames,
      joinMs: transport.joinMs,
      savesCursor: transport.savesCursor,
      hearsAll: transport.hearsAll,
      keepAliveMs: transport.keepAliveMs,
      maxDurationMs: shortest(config.querier.tailMaxDurationMs, transport.maxDurationMs ?? 0),
    },
  };
}

/** Unique owner name of this process among those that share a store. */
export function ownerOfProcess(ids: Ids): string {
  return `process-${ids.randomHex(8)}`;
}

/** Returns the shorter duration; 0 is unlimited. */
function shortest(one: number, other: number): number {
  if (one <= 0 || other <= 0) return Math.max(one, other);
  return Math.min(one, other);
}

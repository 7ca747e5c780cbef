/** Puts together what opens and serves tails, over the services of a context. */

import type { Ids } from '../../base/ports/clock.ts';
import type { Connections } from '../../base/ports/connections.ts';
import type { FrameLimits } from '../../read/tail/frames.ts';
import type { TailLogger, TenantTailParts } from '../../read/tail/tail-parts.ts';
import { TailService } from '../../read/tail/tail-service.ts';
import { observeConnections } from '../admin/metrics/tail-metrics.ts';
import type { HttpContext } from './context.ts';

export interface TailPlace {
  readonly connections: Connections;
  /** Who holds the connections; see Subscriptions. */
  readonly owner: string;
  readonly frames: FrameLimits;
  readonly log: TailLogger;
  /** See TenantTailParts. */
  readonly joinMs: number;
  readonly savesCursor: boolean;
  readonly hearsAll?: boolean;
  readonly keepAliveMs?: number;
  /** Longest life of a connection at this place, ms; the configuration may say less. */
  readonly maxDurationMs?: number;
}

/** What messages of a gateway on one machine may be. Frames are small, so that the first entries of many come soon. */
export const SOCKET_FRAMES: FrameLimits = { targetBytes: 256 * 1024, maxBytes: 16 * 1024 * 1024 };
/** API Gateway counts a message by every 32 KB, and takes none over 128 KB; both are 1,000 bytes here, to be below. */
export const API_GATEWAY_FRAMES: FrameLimits = { targetBytes: 32_000, maxBytes: 128_000 };
/** Of a process that shares its store with nobody. */
export const ONLY_OWNER = 'local';
export const API_GATEWAY_OWNER = 'api-gateway';

export interface Tails {
  readonly service: TailService;
  readonly parts: TenantTailParts;
}

export function assembleTails(context: HttpContext, place: TailPlace): Tails {
  const { clock, reading, config } = context;
  const { owner } = place;
  const connections = observeConnections(place.connections, context.metrics.registry);
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
      log: place.log,
      owner,
      frames: place.frames,
      joinMs: place.joinMs,
      savesCursor: place.savesCursor,
      hearsAll: place.hearsAll,
      keepAliveMs: place.keepAliveMs,
      maxDurationMs: shortest(config.querier.tailMaxDurationMs, place.maxDurationMs ?? 0),
    },
  };
}

/** A name of this process among those that share a store. */
export function ownerOfProcess(ids: Ids): string {
  return `process-${ids.randomHex(8)}`;
}

/** 0 is no limit. */
function shortest(one: number, other: number): number {
  if (one <= 0 || other <= 0) return Math.max(one, other);
  return Math.min(one, other);
}

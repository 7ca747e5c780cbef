/**
 * One address for a store whose write processes are separate: such a process handles pushes, `/ready` and the explorer
 * page, and forwards every other request to the processes or functions that handle it.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import type { ServerLog } from '../../shared/base/runtime/log.ts';
import type { Config } from '../../shared/server/admin/config-fields.ts';
import type { HttpRequest } from '../../shared/server/http/message.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter, type Match } from '../../shared/server/http/routes.ts';
import { isPageRequest } from '../../shared/server/http/ui.ts';
import type { Exchange } from '../gateway-exchange.ts';
import { createSender } from './send.ts';
import { forwardTargetsOf } from './targets.ts';
import { createTunnels } from './tunnel.ts';

type Head = Pick<HttpRequest, 'method' | 'path' | 'rawQuery' | 'headers'>;

export interface Forwarding {
  /** True if this process does not handle the request itself. */
  takes(head: Head): boolean;
  /** See Sender. */
  send(exchange: Exchange, head: Head): Promise<void>;
  /** Opens a live tail at the target. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends live tails, which would keep the gateway open, and opens no more. */
  endTails(): void;
  /** Closes connections to the target, after all requests. */
  close(): void;
}

interface ForwardingOptions {
  readonly config: Config;
  readonly log: ServerLog;
  /** See SenderOptions. Default: longer than any request of a store takes. */
  readonly silentMs?: number;
}

const READY = '/ready';
/** Time for a response after the longest work of a request, which is a flush. */
const MARGIN_MS = 60_000;

/** Limits of all routes, because this process passes on bodies of routes that it does not handle. */
export const ALL_ROUTES = createRouter(ROUTES);

/** Undefined if the process forwards nothing. Throws ConfigError. */
export function createForwarding({ config, log, ...options }: ForwardingOptions): Forwarding | undefined {
  const targets = forwardTargetsOf(config);
  if (targets === undefined) return undefined;
  const { logboom, access } = config;
  const { silentMs = logboom.maintenanceRunMs + MARGIN_MS } = options;
  const sender = createSender({ origin: targets.requests, silentMs, log });
  const tunnels = createTunnels({
    target: targets.tails,
    maxTunnels: logboom.maxWebSockets,
    allowedOrigins: access.allowedOrigins,
    log,
  });
  return {
    takes: head => !isPageRequest(head) && !isOwn(matchOf(head)),
    async send(exchange, { path, rawQuery }) {
      // The target of a request that is no path, such as that of `OPTIONS *`.
      if (!path.startsWith('/')) throw new BadRequestError('the request has no path');
      await sender.send(exchange, rawQuery === '' ? path : `${path}?${rawQuery}`);
    },
    upgrade: (incoming, socket, head) => tunnels.open(incoming, socket, head),
    endTails: () => tunnels.close(),
    close: () => sender.close(),
  };
}

/** Undefined for a path that cannot be decoded, which the target reports. */
function matchOf({ method, path }: Head): Match<never> | undefined {
  try {
    return ALL_ROUTES.match(method, path) as Match<never>;
  } catch {
    return undefined;
  }
}

function isOwn(match: Match<never> | undefined): boolean {
  return match?.kind === 'route' && (match.route.cost === 'push' || match.route.path === READY);
}

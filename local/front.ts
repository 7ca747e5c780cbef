/**
 * Gateway of one machine and the store behind it. The gateway listens first, and reports that the store is
 * starting until it is ready.
 */

import type { Log } from '../shared/base/runtime/log.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import type { HttpContext } from '../shared/server/http/context.ts';
import { errorResponse } from '../shared/server/http/errors.ts';
import type { HttpRequest, HttpResponse } from '../shared/server/http/message.ts';
import { createRequestLimits } from '../shared/server/http/request-limits.ts';
import { ROUTES } from '../shared/server/http/route-table.ts';
import { createRouter, type Router } from '../shared/server/http/routes.ts';
import { isExposed, routesOf } from '../shared/server/http/targets.ts';
import { answerPage } from '../shared/server/http/ui.ts';
import type { AssembledLocal } from './assemble-local.ts';
import { ALL_ROUTES, createForwarding, type Forwarding } from './forward/forward.ts';
import { connectionCount, type Gateway, type GatewayOptions, startGateway } from './gateway.ts';
import { configOfFront, gatewayLimits } from './gateway-limits.ts';
import { listenAlone } from './listen-alone.ts';
import { frontsOf } from './threads/roles.ts';
import { createPageFiles } from './ui.ts';
import { isTailUpgrade } from './websocket.ts';

export interface Front {
  readonly gateway: Gateway;
  /** Undefined if the process handles all requests itself. */
  readonly forwarding: Forwarding | undefined;
  readonly router: Router<HttpContext>;
  readonly connections: () => number;
  /** Configuration of this front, which may be one of several. */
  readonly config: Config;
  /** Handles requests that other fronts received, like the gateway does. Never throws. */
  readonly answer: (request: HttpRequest) => Promise<HttpResponse>;
  readonly behind: BehindGateway;
}

/** Store behind the gateway. The fields are empty while the store starts. */
interface BehindGateway {
  local: AssembledLocal | undefined;
  dispatch: ((request: HttpRequest) => Promise<HttpResponse>) | undefined;
  admit: GatewayOptions['admit'];
  notReady: () => string | undefined;
  /** True when the gateway stops together with the store. */
  isEnding: boolean;
  /** Requests passed to `dispatch` that are not answered yet. */
  running: number;
}

interface FrontOptions {
  readonly config: Config;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** See LocalOptions. */
  readonly cores?: number;
}

/** Rejects if it cannot listen, or with ConfigError. */
export async function openFront(options: FrontOptions, log: Log): Promise<Front> {
  const { host, port } = options;
  const { target } = options.config.auth;
  const fronts = frontsOf(target, options.cores);
  const config = configOfFront(options.config, fronts);
  const router = createRouter(routesOf(target, ROUTES));
  const forwarding = createForwarding({ config, log });
  const forwards = forwarding !== undefined;
  // The explorer page needs the endpoints of a query frontend.
  const page =
    forwards || isExposed(target, { component: 'query-frontend' })
      ? createPageFiles({ warn: message => log.warn(message) })
      : undefined;
  const behind: BehindGateway = {
    local: undefined,
    dispatch: undefined,
    admit: undefined,
    notReady: () => undefined,
    isEnding: false,
    running: 0,
  };
  const behindGateway = async (request: HttpRequest): Promise<HttpResponse> => {
    const { dispatch } = behind;
    if (dispatch === undefined) {
      return errorResponse(503, behind.notReady() ?? 'Application is starting', 'push');
    }
    behind.running++;
    try {
      return await dispatch(request);
    } finally {
      behind.running--;
    }
  };
  const answer = async (request: HttpRequest) =>
    (page && (await answerPage(request, page))) ?? behindGateway(request);
  const isShared = fronts > 1;
  if (isShared) await listenAlone(host, port);
  const gateway = await startGateway({
    host,
    port,
    reusePort: isShared,
    dispatch: answer,
    admit: async head => behind.admit?.(head),
    limits: {
      ...gatewayLimits(config, fronts),
      ofRequest: createRequestLimits(forwards ? ALL_ROUTES : router, config),
    },
    forwarding,
    log,
    isUpgrade: request => (forwards || behind.dispatch !== undefined) && isTailUpgrade(request),
    intercept: (request, response) => behind.local?.intercept?.(request, response) ?? false,
  });
  if (forwards) gateway.server.on('upgrade', forwarding.upgrade);
  return {
    gateway,
    forwarding,
    router,
    connections: connectionCount(gateway.server),
    config,
    answer,
    behind,
  };
}

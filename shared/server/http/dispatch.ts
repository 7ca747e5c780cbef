/** Handles a request: finds the route, runs its handler, formats errors, compresses. */

import type { ClientError } from '../../base/model/errors.ts';
import {
  type EndOfRequest,
  NO_REQUEST_OBSERVER,
  type RequestObserver,
} from '../admin/metrics/request-metrics.ts';
import { type ErrorLog, type ErrorStyle, errorResponse, responseOfError } from './errors.ts';
import type { Guard } from './guard.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { NO_TIMEOUT, type WithTimeout } from './query-timeout.ts';
import { compressResponse } from './respond.ts';
import type { CostClass, Route, Router } from './routes.ts';

/** Runs `task` immediately, or after waiting for a slot. */
export type Admit = <T>(cost: CostClass, task: () => Promise<T>, request: HttpRequest) => Promise<T>;

interface DispatchOptions<Context> {
  readonly router: Router<Context>;
  readonly context: Context;
  /** Called before everything else of a route. */
  readonly guard: Guard;
  readonly log: ErrorLog;
  /** `frontend.compress_responses`. */
  readonly compress: boolean;
  /** Runs a handler, possibly with a limit on concurrent requests per cost class. Default: immediately. */
  readonly admit?: Admit;
  /** Runs a request with the timeout of its tenants. Default: without a timeout. */
  readonly withTimeout?: WithTimeout;
  /** Reason for refusing requests to a route now; `undefined` to accept them. Default: accept. */
  readonly refusal?: (route: Route<Context>) => ClientError | undefined;
  /** Observer of every request. Default: none. */
  readonly observer?: RequestObserver;
}

/** Creates the function that adapters call. It never throws. */
export function createDispatcher<Context>(
  options: DispatchOptions<Context>,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { compress, observer = NO_REQUEST_OBSERVER } = options;
  const log: ErrorLog = {
    error(fields, message) {
      observer.defect();
      options.log.error(fields, message);
    },
  };
  return async request => {
    const { method, body, headers } = request;
    const ends: EndOfRequest[] = [];
    const begin = (path: string | undefined) => {
      ends.push(observer.begin({ method, path, bodyBytes: body.length }));
    };
    const plain = await answer({ ...options, log }, request, begin);
    // A path that the router cannot parse.
    if (ends.length === 0) begin(undefined);
    const response = compress ? await compressResponse(plain, headers['accept-encoding']) : plain;
    for (const end of ends) end({ status: response.status, bytes: Buffer.byteLength(response.body) });
    return response;
  };
}

/** Calls `begin` with the path template of the route before its handler runs. */
async function answer<Context>(
  {
    router,
    context,
    guard,
    log,
    refusal,
    admit = (_, task) => task(),
    withTimeout = NO_TIMEOUT,
  }: DispatchOptions<Context>,
  request: HttpRequest,
  begin: (path: string | undefined) => void,
): Promise<HttpResponse> {
  let style: ErrorStyle = 'push';
  const serve = (route: Route<Context>, admitted: HttpRequest, pathParams: Record<string, string>) =>
    withTimeout(route, admitted, timed =>
      admit(
        route.cost,
        async () => {
          // A client that disconnected or timed out while it waited causes no further work.
          timed.signal.throwIfAborted();
          return route.handler(context, { ...timed, pathParams });
        },
        timed,
      ),
    );
  const admitted = async (route: Route<Context>) => {
    const known = await guard.admit(route.access, request);
    const refused = refusal?.(route);
    if (refused !== undefined) throw refused;
    return known;
  };
  try {
    const match = router.match(request.method, request.path);
    begin(match.kind === 'route' ? match.route.path : undefined);
    switch (match.kind) {
      case 'route':
        style = match.route.errors;
        return await serve(match.route, await admitted(match.route), match.pathParams);
      case 'moved':
        return empty(301, { location: locationOf(match.path, request.rawQuery) });
      case 'wrong-method':
        return empty(405, { allow: match.allow.join(', ') });
      case 'missing':
        return errorResponse(404, '404 page not found', 'push');
    }
  } catch (error) {
    return responseOfError(error, { style, requestId: request.id, log });
  }
}

/**
 * Keeps the path, but escapes characters that would end the header, and the backslash. Browsers treat a
 * backslash as a slash, and two of them name another host. Requests of Node contain none of these, but events
 * of API Gateway are decoded.
 */
function locationOf(path: string, rawQuery: string): string {
  const location = path + (rawQuery === '' ? '' : `?${rawQuery}`);
  return location.replaceAll(/[^!-[\]-~]+/g, text => {
    const hex = Buffer.from(text).toString('hex').toUpperCase();
    return hex.replaceAll(/../g, '%$&');
  });
}

function empty(status: number, headers: Record<string, string>): HttpResponse {
  return { status, headers, body: '' };
}

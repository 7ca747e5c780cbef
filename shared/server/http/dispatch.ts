/** From a request to its answer: finds the route, runs its handler, writes its errors, compresses. */

import type { ClientError } from '../../base/model/errors.ts';
import {
  type EndOfRequest,
  NO_REQUEST_OBSERVER,
  type RequestObserver,
} from '../admin/metrics/request-metrics.ts';
import { type ErrorLog, type ErrorStyle, errorResponse, responseOfError } from './errors.ts';
import type { Guard } from './guard.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { compressResponse } from './respond.ts';
import type { CostClass, Route, Router } from './routes.ts';

/** Runs `task` at once, or when its turn has come. */
export type Admit = <T>(cost: CostClass, task: () => Promise<T>, request: HttpRequest) => Promise<T>;

export interface DispatchOptions<Context> {
  readonly router: Router<Context>;
  readonly context: Context;
  /** Asked before anything else of a route. */
  readonly guard: Guard;
  readonly log: ErrorLog;
  /** `frontend.compress_responses`. */
  readonly compress: boolean;
  /** Runs a handler; an adapter may limit how many of a kind run at once. Default: at once. */
  readonly admit?: Admit;
  /** Why requests to a route are refused at the moment; undefined where they are not. Default: never. */
  readonly refusal?: (route: Route<Context>) => ClientError | undefined;
  /** Told of every request. Default: nobody. */
  readonly observer?: RequestObserver;
}

/** The function from request to answer that adapters call. It does not throw. */
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
    // A path that no router understands.
    if (ends.length === 0) begin(undefined);
    const response = compress ? await compressResponse(plain, headers['accept-encoding']) : plain;
    for (const end of ends) end({ status: response.status, bytes: Buffer.byteLength(response.body) });
    return response;
  };
}

/** `begin` is told of the template of the route, before its handler runs. */
async function answer<Context>(
  { router, context, guard, log, refusal, admit = (_, task) => task() }: DispatchOptions<Context>,
  request: HttpRequest,
  begin: (path: string | undefined) => void,
): Promise<HttpResponse> {
  let style: ErrorStyle = 'push';
  const serve = (route: Route<Context>, admitted: HttpRequest, pathParams: Record<string, string>) =>
    admit(
      route.cost,
      async () => {
        // Who went away, or is late, while it waited costs nothing more.
        admitted.signal.throwIfAborted();
        return route.handler(context, { ...admitted, pathParams });
      },
      admitted,
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
 * As it came, but for what would end the header, and the backslash, which browsers take for a slash: two of them name another
 * host. A request of node has none of these; an event of API Gateway is decoded.
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

/**
 * Lambda handler around the dispatcher: unwraps the event, enforces the limits of the platform, wraps the
 * response.
 */
import { type ErrorLog, errorResponse, responseOfError } from '../shared/server/http/errors.ts';
import type { HttpRequest, HttpResponse } from '../shared/server/http/message.ts';
import type { RequestLimitsOf } from '../shared/server/http/request-limits.ts';
import { deadlineMs, GRACE_MS } from './deadline.ts';
import { checkBodySize, requestOf, resultOf } from './event-adapter.ts';
import type { FunctionName } from './groups.ts';
import { type HttpApiEvent, isHttpApiEvent, type LambdaContext, type LambdaHandler } from './lambda-event.ts';

interface HandlerOptions {
  /** Function that owns the route of a request. It decides the format of errors. */
  readonly nameOf: (method: string, path: string) => FunctionName;
  /** Never throws. */
  readonly dispatch: (request: HttpRequest) => Promise<HttpResponse>;
  readonly limitsOf: RequestLimitsOf;
  readonly log: ErrorLog;
  readonly nowMs: () => number;
}

const NO_EVENT = 'this function accepts events of an API Gateway HTTP API in payload format 2.0';
const PUSH_LATE = 'the push was not stored in time; it is safe to push it again';

export function createHandler(options: HandlerOptions): LambdaHandler {
  return async (event, context) => {
    const method = isHttpApiEvent(event) ? event.requestContext.http.method : 'POST';
    const id = (isHttpApiEvent(event) && event.requestContext.requestId) || context.awsRequestId;
    const response = isHttpApiEvent(event)
      ? await answer(options, event, context, id)
      : errorResponse(400, NO_EVENT, 'push');
    return resultOf(response, { method, id });
  };
}

async function answer(
  { nameOf, dispatch, limitsOf, log, nowMs }: HandlerOptions,
  event: HttpApiEvent,
  context: LambdaContext,
  id: string,
): Promise<HttpResponse> {
  const name = nameOf(event.requestContext.http.method, event.rawPath);
  const style = name === 'query' ? 'query' : 'push';
  const controller = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  try {
    const request = requestOf(event, id);
    const limits = limitsOf(request.method, request.path);
    checkBodySize(request.body.length, limits.maxBodyBytes);
    const withinMs = deadlineMs({
      nowMs: nowMs(),
      receivedMs: event.requestContext.timeEpoch,
      remainingMs: context.getRemainingTimeInMillis(),
    });
    const late = new DOMException(`over ${withinMs} ms`, 'TimeoutError');
    const given = new Promise<HttpResponse>(resolve => {
      timers.push(
        setTimeout(() => controller.abort(late), withinMs),
        setTimeout(() => {
          if (name === 'push') resolve(errorResponse(504, PUSH_LATE, style));
          else resolve(responseOfError(late, { style, requestId: id, log }));
        }, withinMs + GRACE_MS),
      );
    });
    const { signal } = controller;
    return await Promise.race([dispatch({ ...request, signal, deadlineMs: nowMs() + withinMs }), given]);
  } catch (error) {
    return responseOfError(error, { style, requestId: id, log });
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

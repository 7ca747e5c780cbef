/** `$connect`, `$disconnect` and `$default` of the WebSocket API: unwrap the event, call the service, wrap the response. */

import { ClientError } from '../shared/base/model/errors.ts';
import { TAIL_LOGS } from '../shared/server/http/access.ts';
import { tailRequestOf } from '../shared/server/http/tail-request.ts';
import { settleInstance } from './assemble.ts';
import type { TailFunction } from './assemble-tail.ts';
import { connectRequestOf, isWebSocketEvent, type WebSocketResult } from './websocket-event.ts';

export type WebSocketHandler = (event: unknown) => Promise<WebSocketResult>;

const NO_EVENT = 'this function accepts events of an API Gateway WebSocket API';
const OK: WebSocketResult = { statusCode: 200 };

/**
 * Opens a tail. Nothing can be posted before `$connect` returns, so the dispatcher sends the lookback and the
 * reason of a refusal. An invalid request refuses the connection, and the gateway does not show the text to
 * the client.
 */
export function createConnectHandler({ service, assembled }: TailFunction): WebSocketHandler {
  const { context, overrides, log, tailWaker, instance } = assembled;
  const connect: WebSocketHandler = async event => {
    if (!isWebSocketEvent(event)) return { statusCode: 400, body: NO_EVENT };
    const { connectionId, requestId = connectionId } = event.requestContext;
    try {
      await overrides.refreshIfDue();
      const { clock } = context;
      const admitted = await context.access.guard.admit(TAIL_LOGS, connectRequestOf(event, requestId));
      const request = tailRequestOf(admitted, clock.nowNs());
      const refusal = await service.open(request, connectionId);
      if (refusal !== undefined) await service.refuse(request, connectionId, refusal);
      tailWaker?.wake(request.tenant);
      await tailWaker?.settled();
      return OK;
    } catch (error) {
      if (error instanceof ClientError) return { statusCode: error.status, body: error.message };
      log.error({ requestId, err: error }, 'opening a tail failed');
      return { statusCode: 500, body: `internal error, request id ${requestId}` };
    }
  };
  return async event => {
    const result = await instance.counted('tail-connect', () => connect(event));
    await settleInstance(assembled);
    return result;
  };
}

export function createDisconnectHandler({ service }: TailFunction): WebSocketHandler {
  return async event => {
    if (!isWebSocketEvent(event)) return { statusCode: 400, body: NO_EVENT };
    await service.close(event.requestContext.connectionId);
    return OK;
  };
}

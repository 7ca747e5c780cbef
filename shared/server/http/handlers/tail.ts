/**
 * Responds to a tail request that is not a WebSocket with its errors, parameters first, like the reference.
 * WebSockets do not reach this handler, because adapters accept them (local/websocket.ts,
 * functions/tail-connect.ts).
 */
import type { HttpContext } from '../context.ts';
import { errorResponse } from '../errors.ts';
import type { Handler } from '../routes.ts';
import { tailRequestOf } from '../tail-request.ts';

export const refuseTail: Handler<HttpContext> = async ({ clock }, request) => {
  tailRequestOf(request, clock.nowNs());
  const upgrade = request.headers.upgrade;
  if (upgrade !== undefined && upgrade.toLowerCase() !== 'websocket') {
    return errorResponse(426, 'Upgrade Required', 'push');
  }
  const response = errorResponse(400, 'Bad Request', 'push');
  return { ...response, headers: { ...response.headers, 'sec-websocket-version': '13' } };
};

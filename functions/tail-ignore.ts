/** `$default` of the WebSocket API. A separate module, so that its function loads nothing of the store. */
import type { WebSocketHandler } from './tail-handlers.ts';

/** Ignores messages that clients send. */
export const ignoreMessage: WebSocketHandler = async event => {
  const { connectionId } =
    (event as { requestContext?: { connectionId?: unknown } } | null)?.requestContext ?? {};
  return typeof connectionId === 'string' ? { statusCode: 200 } : { statusCode: 400 };
};

/** `$default` of the WebSocket API. Apart from the other handlers, so that its function loads nothing of the store. */
import type { WebSocketHandler } from './tail-handlers.ts';

/** What clients send is read and ignored. */
export const ignoreMessage: WebSocketHandler = async event => {
  const { connectionId } =
    (event as { requestContext?: { connectionId?: unknown } } | null)?.requestContext ?? {};
  return typeof connectionId === 'string' ? { statusCode: 200 } : { statusCode: 400 };
};

/** Lambda function for `$default` of the WebSocket API. */
import { ignoreMessage } from './tail-handlers.ts';

export const handler = ignoreMessage;

/** Lambda function for `$default` of the WebSocket API. */
import { ignoreMessage } from './tail-ignore.ts';

export const handler = ignoreMessage;

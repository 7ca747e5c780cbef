/** Lambda function for `$disconnect` of the WebSocket API. */
import { createTailFunction } from './assemble-tail.ts';
import { createDisconnectHandler } from './tail-handlers.ts';

export const handler = createDisconnectHandler(createTailFunction('tail-disconnect', process.env));

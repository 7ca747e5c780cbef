/** Lambda function for `$connect` of the WebSocket API. */
import { createTailFunction } from './assemble-tail.ts';
import { createConnectHandler } from './tail-handlers.ts';

export const handler = createConnectHandler(createTailFunction('tail-connect', process.env));

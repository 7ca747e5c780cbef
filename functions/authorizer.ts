/** Lambda authorizer of the HTTP API and of `$connect` of the WebSocket API. */
import { createAuthorizer } from './authorizer-handler.ts';

export const handler = createAuthorizer(process.env);

/** Requests of DynamoDB's JSON protocol. Attributes of binary values are base64, as they are sent. */
import type { IncomingMessage } from 'node:http';
import { DYNAMODB_LIMITS } from './caller.ts';
import { findService } from './find-service.ts';
import type { ClientOptions } from './service-endpoint.ts';
import { createSignedRequests, type ReportedError, wholeAnswer } from './signed-requests.ts';

type DynamoDbOperation = 'GetItem' | 'Query' | 'PutItem' | 'DeleteItem' | 'TransactWriteItems';

export interface DynamoDbRequests {
  /**
   * Resolves to the parsed response. Throws ServiceError, with the codes of DynamoDB, or errors of the
   * connection.
   */
  send(operation: DynamoDbOperation, input: object, signal: AbortSignal): Promise<unknown>;
  destroy(): void;
}

const API = 'DynamoDB_20120810';
const CONTENT_TYPE = 'application/x-amz-json-1.0';

export function createDynamoDbRequests(table: string, options: ClientOptions = {}): DynamoDbRequests {
  const { maxSockets = DYNAMODB_LIMITS.maxRunning } = options;
  const { send, destroy } = createSignedRequests({
    service: 'dynamodb',
    find: () => findService({ table }, options),
    maxSockets,
    errorOf: reportedError,
  });
  return {
    async send(operation, input, signal) {
      const body = JSON.stringify(input);
      const headers = {
        'content-type': CONTENT_TYPE,
        'content-length': String(Buffer.byteLength(body)),
        'x-amz-target': `${API}.${operation}`,
      };
      const answer = await send({ method: 'POST', path: '/', headers, body, signal });
      return JSON.parse((await wholeAnswer(answer)).toString());
    },
    destroy,
  };
}

/** Reads `{"__type": "com.amazonaws...#Code", "message": ..., "CancellationReasons": [...]}`. */
function reportedError(_answer: IncomingMessage, body: string): ReportedError {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body) ?? {};
  } catch {
    // A proxy responded.
    return {};
  }
  const { __type: type, message, Message, CancellationReasons } = parsed;
  const text = message ?? Message;
  return {
    code: typeof type === 'string' ? type.slice(type.indexOf('#') + 1) : undefined,
    message: typeof text === 'string' ? text : undefined,
    fields: { CancellationReasons },
  };
}

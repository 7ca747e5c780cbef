/**
 * Event of an API Gateway HTTP API (payload format 2.0) and the result that Lambda returns. Contains only the
 * fields that Logboom uses. The gateway omits fields that a request does not have.
 */
export interface HttpApiEvent {
  readonly version: '2.0';
  /** Percent-decoded by the gateway. Starts with the stage name if the stage has one. */
  readonly rawPath: string;
  /** Query string as sent by the client. */
  readonly rawQueryString?: string;
  /** Headers without cookies. Repeated headers are joined by commas. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly requestId?: string;
    readonly stage?: string;
    /** Unix time in ms when the gateway received the request. */
    readonly timeEpoch?: number;
    readonly http: { readonly method: string; readonly sourceIp?: string };
    /** Context that a Lambda authorizer returned (authorizer-context.ts). */
    readonly authorizer?: { readonly lambda?: unknown };
  };
}

export interface HttpApiResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

export interface LambdaContext {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<HttpApiResult>;

/** Checks that the event has the required fields of a request. */
export function isHttpApiEvent(event: unknown): event is HttpApiEvent {
  const { version, rawPath, requestContext } = (event ?? {}) as Partial<HttpApiEvent>;
  return version === '2.0' && typeof rawPath === 'string' && typeof requestContext?.http?.method === 'string';
}

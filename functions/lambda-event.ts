/**
 * What Lambda gives a function behind an API Gateway HTTP API (payload format 2.0), and what it takes back. Only what we
 * use; the gateway leaves out what a request does not have.
 */
export interface HttpApiEvent {
  readonly version: '2.0';
  /** Percent-decoded by the gateway. With a named stage, its name comes first. */
  readonly rawPath: string;
  /** As the client sent it. */
  readonly rawQueryString?: string;
  /** Without cookies. Repeated ones joined by commas. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly requestId?: string;
    readonly stage?: string;
    /** When the gateway received the request, Unix time in ms. */
    readonly timeEpoch?: number;
    readonly http: { readonly method: string; readonly sourceIp?: string };
    /** What a Lambda authorizer has said (authorizer-context.ts). */
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

/** Whether it has the parts without which there is no request. */
export function isHttpApiEvent(event: unknown): event is HttpApiEvent {
  const { version, rawPath, requestContext } = (event ?? {}) as Partial<HttpApiEvent>;
  return version === '2.0' && typeof rawPath === 'string' && typeof requestContext?.http?.method === 'string';
}

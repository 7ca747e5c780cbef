/**
 * Requests and responses as plain values. A handler is a function from one to the other; the local gateway and the
 * Lambda adapter only translate.
 */
import type { Identity } from '../auth/identity.ts';

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** The path as the client sent it, still percent-encoded, without the query string. */
  readonly path: string;
  /** The query string as sent, without `?`. */
  readonly rawQuery: string;
  /** Names in lower case; a repeated header's values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts when the client goes away or the deadline of the gateway passes. */
  readonly signal: AbortSignal;
  /** Unique per request; in the logs and in the header `x-request-id` of the answer. */
  readonly id: string;
  /** Where the client is, as far as the adapter knows; a proxy's address where there is one. */
  readonly clientAddress?: string | undefined;
  /**
   * Whose token it is: from an authorizer before this process, or from the guard. Never from bytes that the client chose.
   * Undefined where tokens are off.
   */
  readonly identity?: Identity | undefined;
  /** Whose logs it is about, as the guard resolved it. Undefined before the guard. */
  readonly tenants?: RequestTenants | undefined;
}

/** Plain data, because requests cross threads. Handlers read it with the functions of tenant.ts. */
export type RequestTenants =
  | {
      readonly kind: 'resolved';
      /** At least one, well-formed, sorted, each once. The empty one, which has nothing, only beside others. */
      readonly ids: readonly string[];
      /** For queues and hashes: the tenants of a request together are one more. */
      readonly key: string;
    }
  | {
      /** Only the handler knows whether this matters: many endpoints need no tenant, and each writes errors in its way. */
      readonly kind: 'refused';
      /** The request says nothing of tenants. */
      readonly isUnnamed: boolean;
      readonly status: 400 | 401;
      readonly message: string;
    };

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text is sent as UTF-8. */
  readonly body: string | Uint8Array;
  /** Nothing else points into the memory of the body: it may be freed when it is sent. */
  readonly isBodyOwn?: boolean;
}

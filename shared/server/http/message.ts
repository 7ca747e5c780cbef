/**
 * Requests and responses as plain values. A handler maps one to the other. The local gateway and the Lambda
 * adapter only convert them.
 */
import type { Identity } from '../auth/identity.ts';

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** Path as sent by the client: percent-encoded, without the query string. */
  readonly path: string;
  /** Query string as sent, without `?`. */
  readonly rawQuery: string;
  /** Names in lower case. Values of repeated headers are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts when the client disconnects, or when the deadline of the gateway or of the query passes. */
  readonly signal: AbortSignal;
  /** Unix ms at which the signal aborts, if it has a deadline. */
  readonly deadlineMs?: number | undefined;
  /** Unique per request. Contained in logs and in the response header `x-request-id`. */
  readonly id: string;
  /** Address of the client as far as the adapter knows it; a proxy's address if there is one. */
  readonly clientAddress?: string | undefined;
  /**
   * Identity of the token, from an authorizer before this process or from the guard. Pitfall: it must never
   * come from data of the client. `undefined` if tokens are disabled.
   */
  readonly identity?: Identity | undefined;
  /** Tenants as the guard resolved them; `undefined` before the guard. */
  readonly tenants?: RequestTenants | undefined;
}

export interface ResolvedTenants {
  readonly kind: 'resolved';
  /** At least one tenant ID, well-formed, sorted, without repeats. The empty ID, which has no data, appears only with others. */
  readonly ids: readonly string[];
  /** Names the tenants together in queues and hashes: the set counts as a separate tenant. */
  readonly key: string;
}

/** Plain data, because requests cross threads. Handlers read it with the functions of tenant.ts. */
export type RequestTenants =
  | ResolvedTenants
  | {
      /**
       * The handler decides about refused tenants: many endpoints need none, and each formats errors in its
       * style.
       */
      readonly kind: 'refused';
      /** True if the request names no tenant. */
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
  /** The body is memory of `context.bodies`. The component that sends it, or replaces it, releases it with `releaseBody`. */
  readonly isBodyShared?: boolean;
}

/** Requests to other services. Every URL comes from the configuration, never from a client. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface OutgoingAnswer {
  readonly status: number;
  /** First MAX_ANSWER_BYTES of the response, for messages. */
  readonly text: string;
}

/** Maximum number of bytes that are read of a response. */
export const MAX_ANSWER_BYTES = 4096;

export interface HttpClient {
  /** Sends a POST request. Does not follow redirects. Rejects if no response arrives in time. */
  post(request: OutgoingRequest): Promise<OutgoingAnswer>;
}

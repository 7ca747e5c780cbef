/** Requests to other services. Only to URLs of the configuration: nothing that a client sends becomes one. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  /** The first MAX_ANSWER_BYTES, for messages. */
  readonly text: string;
}

/** What is read of an answer. */
export const MAX_ANSWER_BYTES = 4096;

export interface HttpClient {
  /** Posts. Follows no redirects. Rejects where there is no answer in time. */
  post(request: OutgoingRequest): Promise<OutgoingAnswer>;
}

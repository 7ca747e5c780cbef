/**
 * Errors that a client can cause. Anything that is not a `ClientError` is a defect: the HTTP layer logs it
 * with a request id and answers 500 without internals.
 */
export class ClientError extends Error {
  /** HTTP status code of the answer. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.status = status;
  }
}

/** 400: the request cannot be understood or is not allowed as written. */
export class BadRequestError extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super(400, message, options);
  }
}

/** 413: the body, before or after decompression, is over its limit. */
export class TooLargeError extends ClientError {
  constructor(message: string) {
    super(413, message);
  }
}

/**
 * A stored byte does not say what its checksum or its format says it must. Never caused by a client. The message begins
 * with what is damaged, then `: ` and how; a client is told the first part.
 */
export class CorruptionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CorruptionError';
  }
}

/** Breaking one of these means a defect of the program: the message names the invariant. */
export function invariant(condition: boolean, name: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${name}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

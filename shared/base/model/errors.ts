/**
 * Errors that a client can cause. An error that is not a `ClientError` is a defect: the HTTP layer logs it
 * with a request ID and returns 500 without internals.
 */
export class ClientError extends Error {
  /** HTTP status code of the response. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.status = status;
  }
}

/** 400: the request is malformed or not allowed. */
export class BadRequestError extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super(400, message, options);
  }
}

/** 413: the body exceeds its limit before or after decompression. */
export class TooLargeError extends ClientError {
  constructor(message: string) {
    super(413, message);
  }
}

/**
 * Stored data that violates its checksum or its format; never caused by a client. The message is the damaged
 * object, `: `, then the damage. Clients see only the first part.
 */
export class CorruptionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CorruptionError';
  }
}

/** Throws an Error that names the broken invariant. A broken invariant is a defect of the program. */
export function invariant(condition: boolean, name: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${name}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Errors of authentication and authorization. */
import { ClientError } from '../../base/model/errors.ts';

/**
 * Status 401: no credentials, or unknown ones. The response contains a challenge
 * (shared/server/http/errors.ts).
 */
export class UnauthenticatedError extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super(401, message, options);
  }
}

/** Status 403: authenticated, but not allowed. */
export class ForbiddenError extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super(403, message, options);
  }
}

/** Status 429: the address sent too many wrong tokens, so no further one is looked up for a while. */
export class TooManyAttemptsError extends ClientError {
  constructor() {
    super(429, 'too many failed authentication attempts; retry later');
  }
}

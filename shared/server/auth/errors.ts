/** What a client is told that may not do what it asks for. */
import { ClientError } from '../../base/model/errors.ts';

/** 401: nobody, or nobody that is known. The answer carries a challenge (shared/server/http/errors.ts). */
export class UnauthenticatedError extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super(401, message, options);
  }
}

/** 403: known, and not allowed. */
export class ForbiddenError extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super(403, message, options);
  }
}

/** 429: so many wrong tokens came from one address that no other is looked up for a while. */
export class TooManyAttemptsError extends ClientError {
  constructor() {
    super(429, 'too many failed attempts to authenticate, try again later');
  }
}

/**
 * Classifies errors of the AWS SDK, the network and this program. It decides whether to retry, whether the
 * service is throttling, and whether the write may have happened.
 *
 * Pitfall: a timeout or a response 500 does not mean that nothing happened. The ports promise that
 * ConditionFailedError and ThrottledError mean "nothing was written", so this is tracked for every attempt.
 */
import { InvalidKeyError } from '../base/ports/object-key.ts';
import { ObjectNotFoundError } from '../base/ports/object-store.ts';
import { ConditionFailedError } from '../base/ports/table.ts';

/** Reports a call to S3 or DynamoDB that failed after its last attempt. Whether a write happened is open. */
export class AwsCallError extends Error {
  /** Name of the operation, for example `PutObject`. */
  readonly operation: string;
  /** Error code of the service or the system, if any. */
  readonly code: string | undefined;
  /** HTTP status of the last response, if any. */
  readonly status: number | undefined;
  readonly attempts: number;

  constructor(operation: string, target: string, attempts: number, cause: unknown) {
    const { code, status } = describe(cause);
    const times = attempts === 1 ? '' : ` after ${attempts} attempts`;
    const text = (cause as { message?: unknown } | undefined)?.message ?? cause;
    const reason = [code, text].filter(part => part !== undefined && part !== '').join(': ');
    // A response to HEAD has no body: the status is all there is.
    const answered = status === undefined ? '' : ` (HTTP ${status})`;
    super(`${operation} of ${target} failed${times}: ${reason}${answered}`, { cause });
    this.name = 'AwsCallError';
    this.operation = operation;
    this.code = code;
    this.status = status;
    this.attempts = attempts;
  }
}

/**
 * Reports an error response of a service. Has the shape of the SDK's errors: the code is its name, and fields
 * of the response are its properties.
 */
export class ServiceError extends Error {
  readonly $metadata: { readonly httpStatusCode: number; readonly clockSkewCorrected: boolean };

  constructor(
    code: string,
    message: string,
    {
      status,
      clockSkewCorrected,
      fields = {},
    }: {
      readonly status: number;
      readonly clockSkewCorrected: boolean;
      readonly fields?: object | undefined;
    },
  ) {
    super(message);
    Object.assign(this, fields);
    this.name = code;
    this.$metadata = { httpStatusCode: status, clockSkewCorrected };
  }
}

/** Reports an attempt that exceeded its timeout. */
export class AttemptTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs} ms`);
    this.name = 'AttemptTimeoutError';
  }
}

/** Reports that the client was closed while the call ran. */
export class ClosedError extends Error {
  constructor() {
    super('the storage connection is closed');
    this.name = 'ClosedError';
  }
}

/** Reports a response body that ended before its declared length. */
export class CutBodyError extends Error {
  constructor(got: number, declared: number) {
    super(`the response body ended after ${got} of ${declared} bytes`);
    this.name = 'CutBodyError';
  }
}

/** Reports a response that contradicts the request. A retry would not help. */
export class UnexpectedAnswerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnexpectedAnswerError';
  }
}

/**
 * Reports a write whose last attempt was refused, after an earlier attempt without a response that may have
 * written.
 */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super('refused after an attempt without a response, which may have written', { cause });
    this.name = 'OutcomeUnknownError';
  }
}

/**
 * Throttled: the service limits the rate. Conflict: another write is in progress. Transient: a retry may
 * succeed.
 */
type FailureKind = 'throttled' | 'conflict' | 'transient' | 'final';

export interface Failure {
  readonly kind: FailureKind;
  /** True if the failed attempt may have taken effect. */
  readonly mayHaveHappened: boolean;
}

/** Codes of requests that the services refused because there are too many. */
const THROTTLING_CODES: ReadonlySet<string> = new Set([
  'BandwidthLimitExceeded',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'Throttling',
  'ThrottledException',
  'ThrottlingException',
  'TooManyRequestsException',
]);
/** Codes of requests that the services refused because another write to the same key is in progress. */
const CONFLICT_CODES: ReadonlySet<string> = new Set([
  'ConditionalRequestConflict',
  'OperationAborted',
  'TransactionConflictException',
  'TransactionInProgressException',
]);
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'AttemptTimeoutError',
  'CutBodyError',
  'EPIPE',
  'ECONNABORTED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
  'InternalError',
  'InternalServerError',
  'RequestTimeout',
  'RequestTimeoutException',
  'TimeoutError',
]);
/** Codes of requests that were never sent. */
const UNREACHABLE_CODES: ReadonlySet<string> = new Set(['EAI_AGAIN', 'ECONNREFUSED']);
/** Reasons of a canceled transaction that are worth a retry. */
const THROTTLED_REASONS: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
  'RequestLimitExceeded',
]);

/** Decides how a call continues after a failed attempt. */
export function classify(error: unknown): Failure {
  const { name, code, status, clockSkewCorrected, reasons } = describe(error);
  const isOneOf = (codes: ReadonlySet<string>): boolean =>
    (code !== undefined && codes.has(code)) || (name !== undefined && codes.has(name));
  if (name === 'ClosedError') return { kind: 'final', mayHaveHappened: true };
  if (isOneOf(THROTTLING_CODES) || status === 429) return { kind: 'throttled', mayHaveHappened: false };
  if (isOneOf(CONFLICT_CODES)) return { kind: 'conflict', mayHaveHappened: false };
  if (reasons.some(reason => THROTTLED_REASONS.has(reason)))
    return { kind: 'throttled', mayHaveHappened: false };
  if (reasons.includes('TransactionConflict')) return { kind: 'conflict', mayHaveHappened: false };
  if (isOneOf(UNREACHABLE_CODES) || clockSkewCorrected) return { kind: 'transient', mayHaveHappened: false };
  // S3 sends 503 with the code SlowDown, handled above. A proxy in between does not report whether the
  // request ran.
  if (status === 503) return { kind: 'throttled', mayHaveHappened: true };
  if (isOneOf(TRANSIENT_CODES) || (status !== undefined && status >= 500))
    return { kind: 'transient', mayHaveHappened: true };
  // A refusal (4xx) is certain. Without a status, the outcome is unknown.
  return { kind: 'final', mayHaveHappened: status === undefined };
}

/** Whether an error is a result that the ports promise. It ends the call and is not wrapped. */
export function isPortResult(error: unknown): boolean {
  return (
    error instanceof ObjectNotFoundError ||
    error instanceof ConditionFailedError ||
    error instanceof InvalidKeyError ||
    error instanceof RangeError
  );
}

/** Returns the name and code of an error by shape, because SDK and system errors have no common class. */
export function describe(error: unknown): {
  readonly name: string | undefined;
  readonly code: string | undefined;
  readonly status: number | undefined;
  readonly clockSkewCorrected: boolean;
  /** Codes of a canceled transaction's reasons, one per write. `None` means that the write was valid. */
  readonly reasons: readonly string[];
} {
  const { name, code, $metadata, CancellationReasons } = (error ?? {}) as {
    name?: unknown;
    code?: unknown;
    $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
    CancellationReasons?: readonly { readonly Code?: string }[];
  };
  const nameText = typeof name === 'string' ? name : undefined;
  const ofService = $metadata !== undefined ? nameText : undefined;
  return {
    name: nameText,
    code: typeof code === 'string' ? code : ofService,
    status: $metadata?.httpStatusCode,
    clockSkewCorrected: $metadata?.clockSkewCorrected === true,
    reasons: (CancellationReasons ?? []).map(reason => reason.Code ?? 'None'),
  };
}

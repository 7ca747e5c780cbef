/**
 * What an error of the AWS SDK, of the network or of ourselves means for a call: whether to try again, whether the
 * service asks for less, and whether the write may have happened all the same.
 *
 * A reader would get wrong: a time-out or an answer 500 does not say that nothing happened. The ports promise that
 * ConditionFailedError and ThrottledError mean "nothing was written", so this is tracked for every attempt.
 */
import { InvalidKeyError } from '../base/ports/object-key.ts';
import { ObjectNotFoundError } from '../base/ports/object-store.ts';
import { ConditionFailedError } from '../base/ports/table.ts';

/** A call to S3 or DynamoDB that failed for good. Whether a write happened is open. */
export class AwsCallError extends Error {
  /** For example `PutObject`. */
  readonly operation: string;
  /** The error code of the service or the system, where there is one. */
  readonly code: string | undefined;
  /** HTTP status of the last answer, where there was one. */
  readonly status: number | undefined;
  readonly attempts: number;

  constructor(operation: string, target: string, attempts: number, cause: unknown) {
    const { code, status } = describe(cause);
    const times = attempts === 1 ? '' : ` after ${attempts} attempts`;
    const text = (cause as { message?: unknown } | undefined)?.message ?? cause;
    const reason = [code, text].filter(part => part !== undefined && part !== '').join(': ');
    // An answer to HEAD has no words: the status is all there is.
    const answered = status === undefined ? '' : ` (HTTP ${status})`;
    super(`${operation} of ${target} failed${times}: ${reason}${answered}`, { cause });
    this.name = 'AwsCallError';
    this.operation = operation;
    this.code = code;
    this.status = status;
    this.attempts = attempts;
  }
}

/** One attempt took longer than it may. */
export class AttemptTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = 'AttemptTimeoutError';
  }
}

/** The client was closed while the call ran. */
export class ClosedError extends Error {
  constructor() {
    super('the connection to the storage is closed');
    this.name = 'ClosedError';
  }
}

/** The body of an answer ended before its declared length. */
export class CutBodyError extends Error {
  constructor(got: number, declared: number) {
    super(`the body ended after ${got} of ${declared} bytes`);
    this.name = 'CutBodyError';
  }
}

/** An answer that contradicts the request: asking again would not help. */
export class UnexpectedAnswerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnexpectedAnswerError';
  }
}

/** A write was refused at last, but an earlier attempt of it got no answer and may have written. */
export class OutcomeUnknownError extends Error {
  constructor(cause: unknown) {
    super('refused after an attempt without an answer, which may have written', { cause });
    this.name = 'OutcomeUnknownError';
  }
}

/** Throttled: the service asks for less. Conflict: another write is under way. Transient: it may work next time. */
export type FailureKind = 'throttled' | 'conflict' | 'transient' | 'final';

export interface Failure {
  readonly kind: FailureKind;
  /** The attempt may have taken effect although it failed. */
  readonly mayHaveHappened: boolean;
}

/** Codes by which the services say that they did not take the request, because there are too many. */
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
/** Another write to the same key is under way; this one was not taken. */
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
/** Nothing was sent. */
const UNREACHABLE_CODES: ReadonlySet<string> = new Set(['EAI_AGAIN', 'ECONNREFUSED']);
/** The reasons of a cancelled transaction that are worth another try. */
const THROTTLED_REASONS: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
  'RequestLimitExceeded',
]);

/** Where a failed attempt leaves its call. */
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
  // S3 says SlowDown with it, which is told apart above; a proxy in between does not say what became of the request.
  if (status === 503) return { kind: 'throttled', mayHaveHappened: true };
  if (isOneOf(TRANSIENT_CODES) || (status !== undefined && status >= 500))
    return { kind: 'transient', mayHaveHappened: true };
  // A refusal (4xx) is certain; without a status nobody knows.
  return { kind: 'final', mayHaveHappened: status === undefined };
}

/** True for the answers that the ports promise: they end a call, and nothing is wrapped around them. */
export function isAnswer(error: unknown): boolean {
  return (
    error instanceof ObjectNotFoundError ||
    error instanceof ConditionFailedError ||
    error instanceof InvalidKeyError ||
    error instanceof RangeError
  );
}

/** The name and code of an error, by shape: those of the SDK and the system have no common class. */
export function describe(error: unknown): {
  readonly name: string | undefined;
  readonly code: string | undefined;
  readonly status: number | undefined;
  readonly clockSkewCorrected: boolean;
  /** Codes of a cancelled transaction's reasons, one for each write; `None` where the write was fine. */
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

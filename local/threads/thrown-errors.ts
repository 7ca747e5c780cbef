/** Errors that pass from one thread to another: their class, as far as somebody asks for it, their message, stack and causes. */

import {
  BadRequestError,
  ClientError,
  CorruptionError,
  TooLargeError,
} from '../../shared/base/model/errors.ts';
import { ObjectNotFoundError } from '../../shared/base/ports/object-store.ts';
import { StorageUnavailableError } from '../../shared/base/ports/storage-unavailable.ts';
import { ConditionFailedError } from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { LeaseLostError } from '../../shared/storage/catalog/leases.ts';
import { SwapConflictError } from '../../shared/storage/catalog/swap.ts';
import { MergeTooLargeError } from '../../shared/upkeep/compaction/merge-bounds.ts';
import { DeleteCancelledError } from '../../shared/upkeep/compaction/row-drops.ts';
import { ThreadLostError, ThreadMemoryError } from './thread-errors.ts';

/** Plain data: what structured cloning makes of an error has lost its class. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ThrownError | undefined;
  /** Of ConditionFailedError. */
  readonly index?: number;
  /** Of ClientError. */
  readonly status?: number;
}

/** Of causes: one may be its own. */
const MAX_DEPTH = 5;

/** Others come as Error with their name. By the names in the source: a bundle may give a class another one. */
const CLASSES = new Map<string, { readonly prototype: Error }>(
  Object.entries({
    BadRequestError,
    ClientError,
    ConditionFailedError,
    CorruptionError,
    DeleteCancelledError,
    LeaseLostError,
    MergeTooLargeError,
    ObjectNotFoundError,
    RangeError,
    StorageUnavailableError,
    SwapConflictError,
    ThreadLostError,
    ThreadMemoryError,
    ThrottledError,
    TooLargeError,
    TypeError,
  }),
);

export function thrownOf(error: unknown, depth = 1): ThrownError {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error), stack: undefined, cause: undefined };
  }
  const { name, message, stack, cause } = error;
  const isLast = cause === undefined || depth === MAX_DEPTH;
  const thrown = { name, message, stack, cause: isLast ? undefined : thrownOf(cause, depth + 1) };
  if (error instanceof ConditionFailedError) return { ...thrown, index: error.index };
  return error instanceof ClientError ? { ...thrown, status: error.status } : thrown;
}

export function errorOf({ name, message, stack, cause, ...own }: ThrownError): Error {
  const error = new Error(message, cause && { cause: errorOf(cause) });
  const known = CLASSES.get(name);
  // Not by its constructor: some make the message themselves.
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, own);
}

/** Transfers errors between threads: their class if code checks for it, message, stack and causes. */

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
import { DeleteCanceledError } from '../../shared/upkeep/compaction/row-drops.ts';
import { ThreadLostError, ThreadMemoryError } from './thread-errors.ts';

/** Plain data, because structured cloning loses the class of an error. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ThrownError | undefined;
  /** Index of ConditionFailedError. */
  readonly index?: number;
  /** Status of ClientError. */
  readonly status?: number;
}

/** Maximum depth of causes. An error may be its own cause. */
const MAX_DEPTH = 5;

/**
 * Known classes by their names in the source, because a bundle may rename classes. Other errors become Error
 * with their name.
 */
const CLASSES = new Map<string, { readonly prototype: Error }>(
  Object.entries({
    BadRequestError,
    ClientError,
    ConditionFailedError,
    CorruptionError,
    DeleteCanceledError,
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
  // Does not call the constructor, because some build the message themselves.
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, own);
}

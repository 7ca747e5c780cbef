/**
 * What a task failed with, as it travels: a mistake of the client keeps its status and its words, damage and missing
 * objects keep their kind, because their answers name them. Everything else is a defect.
 */
import { ClientError, CorruptionError, messageOf } from '../../../base/model/errors.ts';
import { InvokerError } from '../../../base/ports/invoker.ts';
import { ObjectNotFoundError } from '../../../base/ports/object-store.ts';
import { ThrottledError } from '../../../base/ports/throttled.ts';

export interface TaskFailure {
  /** Of a client's mistake; 0 for all else. */
  readonly status: number;
  /** Of the error's class. */
  readonly name: string;
  readonly message: string;
}

export function failureOf(error: unknown): TaskFailure {
  const message = messageOf(error);
  if (error instanceof ClientError) return { status: error.status, name: 'ClientError', message };
  if (error instanceof CorruptionError) return { status: 0, name: 'CorruptionError', message };
  if (error instanceof ObjectNotFoundError) return { status: 0, name: 'ObjectNotFoundError', message };
  if (error instanceof ThrottledError) return { status: 0, name: 'ThrottledError', message };
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  return { status: 0, name: 'Error', message: stack };
}

/** The error to be thrown where the answer is awaited. */
export function taskError({ status, name, message }: TaskFailure): Error {
  switch (name) {
    case 'ClientError':
      return new ClientError(status, message);
    case 'CorruptionError':
      return new CorruptionError(message);
    case 'ObjectNotFoundError':
      return new ObjectNotFoundError(message.slice(message.lastIndexOf(' ') + 1));
    case 'ThrottledError':
      return new ThrottledError(message);
    default:
      return new InvokerError(`a task of a query failed: ${message}`);
  }
}

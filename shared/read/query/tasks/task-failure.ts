/**
 * Serializable failure of a task. Client errors keep their status and message. Corruption and missing objects
 * keep their class, because responses name them. Every other error is a defect.
 */
import { ClientError, CorruptionError, messageOf } from '../../../base/model/errors.ts';
import { InvokerError } from '../../../base/ports/invoker.ts';
import { ObjectNotFoundError } from '../../../base/ports/object-store.ts';
import { ThrottledError } from '../../../base/ports/throttled.ts';

export interface TaskFailure {
  /** Status of a client error, otherwise 0. */
  readonly status: number;
  /** Name of the error's class. */
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

/** Returns the error to throw to the caller that awaits the result. */
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
      return new InvokerError(`query task failed: ${message}`);
  }
}

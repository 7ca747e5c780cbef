/**
 * Classifies errors of the file system and of SQLite that mean that the disk is full, read-only or failing.
 */
import { type StorageProblem, StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import { codeOf } from '../shared/base/runtime/file-errors.ts';

const BY_CODE: Readonly<Record<string, StorageProblem>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
  EIO: 'failing',
};

/** Primary result codes of SQLite: the low byte of the code. */
const BY_PRIMARY: Readonly<Record<number, StorageProblem>> = {
  8: 'read-only',
  10: 'failing',
  13: 'full',
  // SQLITE_CANTOPEN: if the file exists, SQLite cannot create the write-ahead log next to it.
  14: 'read-only',
};
/** Extending the shared-memory file of the write-ahead log failed. */
const SQLITE_IOERR_SHMSIZE = 4874;
/** Maximum depth of nested causes. */
const MAX_DEPTH = 5;

/** `undefined` if the error has another reason. */
export function storageProblemOf(error: unknown, depth = 1): StorageProblem | undefined {
  if (error instanceof StorageUnavailableError) return error.problem;
  if (typeof error !== 'object' || error === null) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') {
    return error.errcode === SQLITE_IOERR_SHMSIZE ? 'full' : BY_PRIMARY[error.errcode & 0xff];
  }
  const problem = BY_CODE[codeOf(error) ?? ''];
  if (problem !== undefined || depth === MAX_DEPTH || !('cause' in error)) return problem;
  return storageProblemOf(error.cause, depth + 1);
}

/** Converts an error of the disk to the error for clients. Returns other errors unchanged. */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailableError) return error;
  const problem = storageProblemOf(error);
  return problem === undefined ? error : new StorageUnavailableError(problem, { cause: error });
}

/** Same as asStorageError, for reads, which work on a full or read-only disk. */
export function asReadError(error: unknown): unknown {
  return storageProblemOf(error) === 'failing' ? asStorageError(error) : error;
}

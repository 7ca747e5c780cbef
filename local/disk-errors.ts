/** Which errors of the file system and of SQLite mean that the disk takes no more, or fails. */
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

/** Primary result codes of SQLite, which are the low byte. */
const BY_PRIMARY: Readonly<Record<number, StorageProblem>> = {
  8: 'read-only',
  10: 'failing',
  13: 'full',
  // Cannot open: where the file is there, its log cannot be made beside it.
  14: 'read-only',
};
/** The shared memory of the log, a file, could not be made long enough. */
const SQLITE_IOERR_SHMSIZE = 4874;
/** Of causes. */
const MAX_DEPTH = 5;

/** Undefined where the error means something else. */
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

/** The error as clients are told of it; the error itself where the disk is not what is wrong. */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailableError) return error;
  const problem = storageProblemOf(error);
  return problem === undefined ? error : new StorageUnavailableError(problem, { cause: error });
}

/** The same for reads, which a full or read-only disk does not stop. */
export function asReadError(error: unknown): unknown {
  return storageProblemOf(error) === 'failing' ? asStorageError(error) : error;
}

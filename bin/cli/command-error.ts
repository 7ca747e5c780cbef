/**
 * Failures of commands: one line on standard error and an exit code. The code is set instead of exiting, so
 * that data already written to a pipe still arrives.
 */
import { CorruptionError, messageOf } from '../../shared/base/model/errors.ts';
import { say } from './standard-output.ts';

/** Exit codes of all commands, listed in `logboom --help` and docs/reference/cli.md. */
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
export const EXIT_UNREACHABLE = 3;
export const EXIT_NOTHING_FOUND = 4;

/** Failure that the user can fix. Only its message is printed. */
export class CommandError extends Error {
  static readonly NAME = 'CommandError';
  readonly exitCode: number = EXIT_FAILED;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = CommandError.NAME;
  }
}

/** Usage error that was found only after the whole command line was parsed. */
export class UsageError extends CommandError {
  override readonly exitCode = EXIT_USAGE;
}

/** Wraps a command as an action of commander that reports failures. */
export function asAction<Arguments extends unknown[]>(
  run: (...args: Arguments) => Promise<void>,
): (...args: Arguments) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args);
    } catch (error) {
      say(`logboom: ${explainFailure(error)}\n`);
      process.exitCode = isCommandError(error) ? error.exitCode : EXIT_FAILED;
    }
  };
}

/**
 * Recognizes the class by name, because a bundle that is loaded for single commands (bin/bundle-server.mjs)
 * has a copy of it.
 */
function isCommandError(error: unknown): error is CommandError {
  return error instanceof Error && error.name === CommandError.NAME;
}

/** Message of a failure. With LOGBOOM_DEBUG, the stack of an unexpected error is shown. */
export function explainFailure(error: unknown): string {
  if (isCommandError(error) || error instanceof CorruptionError) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  const file = path ?? 'the input';
  if (code === 'ENOENT') return `file not found: ${file}`;
  if (code === 'EACCES' || code === 'EPERM') return `cannot read ${file}: permission denied`;
  if (code !== undefined || !(error instanceof Error)) return messageOf(error);
  if (process.env.LOGBOOM_DEBUG) return error.stack ?? error.message;
  return `unexpected failure: ${error.message}; set LOGBOOM_DEBUG=1 to see the stack, and report it`;
}

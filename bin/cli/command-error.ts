/**
 * How a command fails: one line on standard error and an exit code. The code is set, not enforced, so that what was
 * written to a pipe before still arrives.
 */
import { CorruptionError, messageOf } from '../../shared/base/model/errors.ts';
import { say } from './standard-output.ts';

/** The exit codes of all commands, told by `logboom --help` and docs/reference/cli.md. */
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
export const EXIT_UNREACHABLE = 3;
export const EXIT_NOTHING_FOUND = 4;

/** A failure that the person at the keyboard can do something about; its message is all that is shown. */
export class CommandError extends Error {
  readonly exitCode: number = EXIT_FAILED;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}

/** What was typed makes no sense, which only showed when all of it was read. */
export class UsageError extends CommandError {
  override readonly exitCode = EXIT_USAGE;
}

/** What commander runs: the command, with its failures told. */
export function asAction<Arguments extends unknown[]>(
  run: (...args: Arguments) => Promise<void>,
): (...args: Arguments) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args);
    } catch (error) {
      say(`logboom: ${explainFailure(error)}\n`);
      process.exitCode = error instanceof CommandError ? error.exitCode : EXIT_FAILED;
    }
  };
}

/** The message of a failure. The stack of one that is a bug is shown if LOGBOOM_DEBUG is set. */
export function explainFailure(error: unknown): string {
  if (error instanceof CommandError || error instanceof CorruptionError) return error.message;
  const { code, path } = error as NodeJS.ErrnoException;
  const file = path ?? 'the input';
  if (code === 'ENOENT') return `there is no file ${file}`;
  if (code === 'EACCES' || code === 'EPERM') return `${file} may not be read`;
  if (code !== undefined || !(error instanceof Error)) return messageOf(error);
  if (process.env.LOGBOOM_DEBUG) return error.stack ?? error.message;
  return `unexpected failure: ${error.message} (LOGBOOM_DEBUG=1 shows where; please report it)`;
}

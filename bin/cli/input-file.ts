/** Size of an input file before it is opened. */
import { stat } from 'node:fs/promises';
import { CommandError } from './command-error.ts';

/**
 * Size in bytes; undefined if it is not a regular file, such as a named pipe. Throws if it cannot be read.
 */
export async function inputSize(file: string): Promise<number | undefined> {
  const found = await stat(file);
  if (found.isDirectory()) throw new CommandError(`${file} is a folder, not a file`);
  return found.isFile() ? found.size : undefined;
}

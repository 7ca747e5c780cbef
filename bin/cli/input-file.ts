/** What is to be known of an input file before it is opened. */
import { stat } from 'node:fs/promises';
import { CommandError } from './command-error.ts';

/** Size in bytes; undefined for what is no plain file, a named pipe for example. Throws where it is none to read. */
export async function inputSize(file: string): Promise<number | undefined> {
  const found = await stat(file);
  if (found.isDirectory()) throw new CommandError(`${file} is a folder, not a file`);
  return found.isFile() ? found.size : undefined;
}

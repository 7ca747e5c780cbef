/** Input files: what is to be known before one is opened, and its text where it is packed. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { CommandError } from './command-error.ts';

/** Size in bytes; undefined for what is no plain file, a named pipe for example. Throws where it is none to read. */
export async function inputSize(file: string): Promise<number | undefined> {
  const found = await stat(file);
  if (found.isDirectory()) throw new CommandError(`${file} is a folder, not a file`);
  return found.isFile() ? found.size : undefined;
}

/** Whether the bytes of the file are those of its text. */
export function isPacked(file: string): boolean {
  return UNPACKERS.some(([ending]) => file.endsWith(ending));
}

const READ_BYTES = 256 * 1024;
const UNPACKERS: readonly (readonly [string, () => Duplex])[] = [
  ['.gz', createGunzip],
  ['.zst', createZstdDecompress],
];

/** The text of a file, unpacked where its name ends in `.gz` or `.zst`. */
export function openText(file: string): Readable {
  const packed = createReadStream(file, { highWaterMark: READ_BYTES });
  const unpacker = UNPACKERS.find(([ending]) => file.endsWith(ending))?.[1];
  if (unpacker === undefined) return packed;
  const input = unpacker();
  packed.on('error', error => input.destroy(error));
  input.on('close', () => packed.destroy());
  return packed.pipe(input);
}

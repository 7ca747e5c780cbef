/**
 * The file that remembers how far followed files were pushed, so that a push that starts again goes on there. It is written when
 * batches are stored: after a crash some lines may be pushed again, none is left out.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { CommandError } from './command-error.ts';
import type { FilePosition } from './file-position.ts';

const VERSION = 1;

interface PositionsJson {
  readonly version: number;
  /** By the path of the file, as it is absolute. */
  readonly files: Readonly<Record<string, FilePosition>>;
}

/** Undefined where it has no such file, or is not there. Throws CommandError where it is no file of positions. */
export function readPosition(positionsFile: string, path: string): FilePosition | undefined {
  return readAll(positionsFile).files[path];
}

/** Replaces the file at once: it is whole at any moment. Other entries stay. */
export function writePosition(positionsFile: string, path: string, place: FilePosition): void {
  const { files } = readAll(positionsFile);
  const json: PositionsJson = { version: VERSION, files: { ...files, [path]: place } };
  const besides = `${positionsFile}.new`;
  writeFileSync(besides, `${JSON.stringify(json, undefined, 2)}\n`);
  renameSync(besides, positionsFile);
}

function readAll(positionsFile: string): PositionsJson {
  let text: string;
  try {
    text = readFileSync(positionsFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { version: VERSION, files: {} };
    throw error;
  }
  try {
    const json = JSON.parse(text) as PositionsJson;
    if (json.version === VERSION && typeof json.files === 'object') return json;
  } catch {
    // Told below: it is a file of something else.
  }
  throw new CommandError(`${positionsFile} is not a positions file; name another with --positions`);
}

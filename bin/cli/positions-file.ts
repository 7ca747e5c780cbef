/**
 * Positions file: records how far followed files were pushed, so that a restarted push continues there. It is
 * written after batches are stored. After a crash, some lines may be pushed again, but none is lost.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { CommandError } from './command-error.ts';
import type { FilePosition } from './file-position.ts';

const VERSION = 1;

interface PositionsJson {
  readonly version: number;
  /** Positions by absolute path of the followed file. */
  readonly files: Readonly<Record<string, FilePosition>>;
}

/**
 * Position of a file; undefined if there is none. Throws CommandError if the file is not a positions file.
 */
export function readPosition(positionsFile: string, path: string): FilePosition | undefined {
  return readAll(positionsFile).files[path];
}

/** Replaces the file atomically. Other entries are kept. */
export function writePosition(positionsFile: string, path: string, position: FilePosition): void {
  const { files } = readAll(positionsFile);
  const json: PositionsJson = { version: VERSION, files: { ...files, [path]: position } };
  const temporary = `${positionsFile}.new`;
  writeFileSync(temporary, `${JSON.stringify(json, undefined, 2)}\n`);
  renameSync(temporary, positionsFile);
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
    // The error below says that the file is not a positions file.
  }
  throw new CommandError(`${positionsFile} is not a positions file; name another with --positions`);
}

/**
 * Archive at the end of a single executable: the files of the bundle and their compiled code.
 *
 *     file ... file | index (JSON: name to [offset, bytes]) | bytes of the index (u32)
 *
 * Threads read a file when they load it (load.cjs). Assets of Node.js would be mapped into memory instead, and
 * stay there: 17 MB of 105.
 */
import { appendFileSync, statSync, truncateSync } from 'node:fs';

/** Bytes of the program without an archive. */
export function endOf(program) {
  return statSync(program).size;
}

/** Replaces the archive, which begins at `end`. @param files contents by name */
export function writeArchive(program, end, files) {
  truncateSync(program, end);
  const index = {};
  let offset = end;
  for (const [name, bytes] of files) {
    index[name] = [offset, bytes.length];
    offset += bytes.length;
    appendFileSync(program, bytes);
  }
  const text = Buffer.from(JSON.stringify(index));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  appendFileSync(program, Buffer.concat([text, length]));
}

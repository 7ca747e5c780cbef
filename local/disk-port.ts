/** The disk of a data directory, as the system shows it. What is written shows that files of it can be written, the table's too. */
import { randomFillSync } from 'node:crypto';
import { access, constants, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../shared/base/runtime/file-errors.ts';
import type { DiskPort } from './disk.ts';

const RESERVE_FILE = 'reserve';
/** Random, so that a file system that compresses takes as much for it. */
const PIECE_BYTES = 256 * 1024;

/** @param files that must be writable where they are there */
export function diskPort(dataDir: string, files: readonly string[]): DiskPort {
  const file = join(dataDir, RESERVE_FILE);

  /**
   * False where it is not there; rejects where it cannot be written. Nothing is opened: closing a file of SQLite would take the locks
   * of its connections away.
   */
  async function isWritable(path: string): Promise<boolean> {
    try {
      await access(path, constants.W_OK);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  return {
    async space() {
      const { bavail, blocks, bsize } = await statfs(dataDir);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },

    async hasReserve() {
      for (const path of files) await isWritable(path);
      return isWritable(file);
    },

    async writeReserve(bytes) {
      for (const path of files) await isWritable(path);
      const handle = await open(file, 'w');
      try {
        const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
        for (let left = bytes; left > 0; left -= PIECE_BYTES) {
          randomFillSync(piece);
          await handle.writeFile(piece.subarray(0, Math.min(left, PIECE_BYTES)));
        }
        // A file system may only now find out that there is no space.
        await handle.sync();
      } finally {
        await handle.close();
      }
    },

    async removeReserve() {
      await unlink(file).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },
  };
}

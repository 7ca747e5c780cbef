/**
 * Disk of a data directory, as the file system reports it. Writing the reserve proves that files, including
 * the table, can be written.
 */
import { randomFillSync } from 'node:crypto';
import { access, constants, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../shared/base/runtime/file-errors.ts';
import type { DiskPort } from './disk.ts';

const RESERVE_FILE = 'reserve';
/** Size of a buffer with random bytes. Random bytes use their full size on a file system that compresses. */
const BUFFER_BYTES = 256 * 1024;

/** @param files must be writable if they exist */
export function diskPort(dataDir: string, files: readonly string[]): DiskPort {
  const file = join(dataDir, RESERVE_FILE);

  /**
   * Returns false if the file is missing. Rejects if it is not writable. Opens nothing, because closing a
   * SQLite file would release the locks of its connections.
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
        const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
        for (let left = bytes; left > 0; left -= BUFFER_BYTES) {
          randomFillSync(buffer);
          await handle.writeFile(buffer.subarray(0, Math.min(left, BUFFER_BYTES)));
        }
        // Some file systems report a lack of space only here.
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

/** A disk of a few megabytes in memory, if this process may mount one (on Linux, as root). */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly folder: string;
  /** Fills the remaining space. */
  fill(): void;
  /** Frees the filled space. */
  free(): void;
  makeReadOnly(): void;
  makeWritable(): void;
  remove(): void;
}

const FILL = 'filled-by-somebody-else';

/** Returns `undefined` if nothing can be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  if (process.platform !== 'linux') return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'logboom-disk-'));
  const mount = (...args: string[]) => spawnSync('mount', [...args, folder], { encoding: 'utf8' });
  const { status } = mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs');
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const remount = (how: 'ro' | 'rw') => {
    const { status: done, stderr } = mount('-o', `remount,${how}`);
    if (done !== 0) throw new Error(stderr);
  };
  return {
    folder,
    fill() {
      const file = openSync(join(folder, FILL), 'a');
      try {
        for (const bytes of [1 << 20, 1 << 12, 1]) {
          const piece = Buffer.alloc(bytes);
          try {
            while (writeSync(file, piece) > 0);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(join(folder, FILL), { force: true }),
    makeReadOnly: () => remount('ro'),
    makeWritable: () => remount('rw'),
    remove() {
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

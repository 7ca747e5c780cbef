/**
 * Checks whether replaced objects must stay on this machine after the reads of this process have ended. They
 * must stay if a marker file says that the data folder is being copied or inspected, or if another process
 * serves the same store.
 */
import { readdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MS_PER_DAY, MS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import type { Members } from '../shared/storage/catalog/members.ts';

/** Name prefix of marker files in the data folder. */
const PREFIX = 'keep-objects';
/** Older marker files are ignored: their process ended without deleting them. */
const MARKER_LIFETIME_MS = MS_PER_DAY;
/** Longer than the heartbeat interval of members. */
const SILENT_MS = 5 * MS_PER_MINUTE;

interface KeptObjectsParts {
  readonly dataDir: string;
  readonly members: Pick<Members, 'list'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Rejects if the folder or the table cannot be read. */
export async function mustKeepObjects({ dataDir, members, clock }: KeptObjectsParts): Promise<boolean> {
  const nowMs = clock.nowMs();
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(PREFIX)) continue;
    const file = await stat(join(dataDir, name)).catch(() => undefined);
    if (file !== undefined && nowMs - file.mtimeMs < MARKER_LIFETIME_MS) return true;
  }
  const alive = (await members.list()).filter(({ heartbeatMs }) => nowMs - heartbeatMs < SILENT_MS);
  return alive.length > 1;
}

/**
 * Keeps replaced objects until the returned function is called. If the folder is not writable, no object can
 * be deleted either.
 */
export async function keepObjects(
  dataDir: string,
  ids: Pick<Ids, 'randomHex'>,
): Promise<() => Promise<void>> {
  const file = join(dataDir, `${PREFIX}-${ids.randomHex(8)}`);
  await writeFile(file, '').catch(() => undefined);
  return () => unlink(file).catch(() => undefined);
}

/**
 * Whether replaced objects have to stay on this machine beyond the reads of this process: somebody copies the data folder or looks
 * through it, and says so by a file there, or another process serves the same store.
 */
import { readdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import type { Members } from '../shared/storage/catalog/members.ts';

/** A file of the data folder whose name begins so. */
const PREFIX = 'keep-objects';
/** Older files were left behind. */
const KEPT_MS = 24 * 3_600_000;
/** Members tell that they live more often. */
const SILENT_MS = 5 * 60_000;

export interface KeptObjectsParts {
  readonly dataDir: string;
  readonly members: Pick<Members, 'list'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Rejects where the folder or the table cannot be read. */
export async function mustKeepObjects({ dataDir, members, clock }: KeptObjectsParts): Promise<boolean> {
  const nowMs = clock.nowMs();
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(PREFIX)) continue;
    const file = await stat(join(dataDir, name)).catch(() => undefined);
    if (file !== undefined && nowMs - file.mtimeMs < KEPT_MS) return true;
  }
  const alive = (await members.list()).filter(({ heartbeatMs }) => nowMs - heartbeatMs < SILENT_MS);
  return alive.length > 1;
}

/** Objects stay from now on until the function that it resolves to is called. A folder that cannot be written loses none anyway. */
export async function keepObjects(
  dataDir: string,
  ids: Pick<Ids, 'randomHex'>,
): Promise<() => Promise<void>> {
  const file = join(dataDir, `${PREFIX}-${ids.randomHex(8)}`);
  await writeFile(file, '').catch(() => undefined);
  return () => unlink(file).catch(() => undefined);
}

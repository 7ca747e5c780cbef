/** The mark that a store exists in a folder, which several processes may set when they start at the same time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openStorage } from '../../local/storage.ts';

test('the mark of a folder can be set by several processes, and is set once one of them has', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-mark-'));
  const storages = [
    await openStorage({ kind: 'embedded', dataDir }),
    await openStorage({ kind: 'embedded', dataDir }),
  ];
  try {
    const [one, other] = storages;
    expect(await one.mark.isSet()).toBe(false);
    await Promise.all([one.mark.set(), other.mark.set()]);
    await one.mark.set();
    expect([await one.mark.isSet(), await other.mark.isSet()]).toEqual([true, true]);
  } finally {
    for (const storage of storages) await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});

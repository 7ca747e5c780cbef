/** When the page of a checkout is built again. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { buildIfChanged, pageSources } from '../../local/ui-sources.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'logboom-ui-sources-'));
  for (const folder of ['ui/src', 'scripts', 'dist/ui', 'shared'])
    await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, 'ui/src/main.tsx'), 'one');
  await writeFile(join(root, 'shared/used.ts'), 'one');
  await writeFile(join(root, 'dist/ui/manifest.json'), '{"inputs":["shared/used.ts"]}');
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('a build runs once for each change of a source, and again after it failed', async () => {
  let builds = 0;
  let fails = false;
  const update = buildIfChanged(
    () => pageSources(root),
    async () => {
      builds++;
      if (fails) throw new Error('it fails');
    },
  );
  const buildsAfter = async (change: () => Promise<unknown>) => {
    await change();
    const before = builds;
    for (let i = 0; i < 3; i++) await update();
    return builds - before;
  };
  expect(await buildsAfter(async () => undefined)).toBe(1);
  expect(await buildsAfter(async () => undefined)).toBe(0);
  expect(await buildsAfter(() => writeFile(join(root, 'ui/src/main.tsx'), 'longer'))).toBe(1);
  expect(await buildsAfter(() => utimes(join(root, 'shared/used.ts'), 1, 1))).toBe(1);
  expect(await buildsAfter(() => writeFile(join(root, 'ui/src/new.ts'), ''))).toBe(1);
  expect(await buildsAfter(() => rm(join(root, 'ui/src/new.ts')))).toBe(1);
  expect(await buildsAfter(() => writeFile(join(root, 'shared/other.ts'), ''))).toBe(0);
  expect(await buildsAfter(() => rm(join(root, 'dist'), { recursive: true }))).toBe(1);
  fails = true;
  await writeFile(join(root, 'ui/src/main.tsx'), 'broken');
  await expect(update()).rejects.toThrow('it fails');
  fails = false;
  expect(await buildsAfter(async () => undefined)).toBe(1);
});

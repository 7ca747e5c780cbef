/**
 * `npm run docs:reference`: updates the generated parts of the reference pages. Tests fail while one of them
 * is out of date.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';

ensureInstalled();
for (const page of ['config', 'http', 'limits', 'metrics', 'lists', 'cli']) {
  const script = join(ROOT, 'scripts', `make-${page}-reference.ts`);
  const args = [join(ROOT, 'bin', 'with-runtime.mjs'), script];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

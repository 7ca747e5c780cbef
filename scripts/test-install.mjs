/**
 * `npm run test:install`: each way of installing that docs/install.md tells, done in empty folders with nothing but the tools that it
 * names, and the store used. `npm run test:install -- service` does one part. What a machine lacks the tools for is told as SKIPPED. At
 * the end there are sizes, times and memory, and the last line is `N passed, N failed`.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../bin/installed.mjs';
import { testBinary } from './install/binary.mjs';
import { testContainer } from './install/container.mjs';
import { testKubernetes } from './install/kubernetes.mjs';
import { check, endReport } from './install/ledger.mjs';
import { testNpm } from './install/npm.mjs';
import { packInto } from './install/package.mjs';
import { testService } from './install/service.mjs';

const PARTS = {
  npm: testNpm,
  binary: testBinary,
  container: testContainer,
  kubernetes: testKubernetes,
  service: testService,
};

ensureInstalled();
const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'logboom-install-'));
// Other users are to read what is installed there.
chmodSync(folder, 0o755);
try {
  const archive = packInto(folder);
  for (const [name, test] of Object.entries(PARTS)) {
    if (archive === undefined || (wanted.length > 0 && !wanted.includes(name))) continue;
    const own = join(folder, name);
    mkdirSync(own);
    await test(archive, own).catch(error => check(`${name} ran to its end`, false, error.stack));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
endReport();

/**
 * `npm run test:install`: tests each installation of docs/install.md in empty folders with only the tools
 * that it names, and uses the store. `npm run test:install -- service` runs one part. Parts whose tools are
 * missing are SKIPPED. At the end it prints sizes, times and memory; the last line is `N passed, N failed`.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../bin/installed.mjs';
import { testArm64 } from './install/arm64.mjs';
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
  arm64: testArm64,
  container: testContainer,
  kubernetes: testKubernetes,
  service: testService,
};

ensureInstalled();
const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'logboom-install-'));
// Other users must be able to read the installation.
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

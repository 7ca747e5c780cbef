/** Runs the CDK command line in this repository, with its packages installed. Returns its exit status. */
import { spawnSync } from 'node:child_process';
import { ensureInstalled, ROOT, say } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { CDK, ensureStackInstalled } from '../bin/stack-modules.mjs';

export function runCdk(args, { stdin = 'inherit' } = {}) {
  ensureInstalled();
  ensureStackInstalled();
  const [runtime] = findRuntimes();
  const { status, error } = spawnSync(runtime, [CDK, ...args], {
    cwd: ROOT,
    stdio: [stdin, 'inherit', 'inherit'],
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
  });
  if (error !== undefined) say(`cannot run the CDK: ${error.message}`);
  return status ?? 1;
}

/**
 * `npm run synth`: writes the stack as CloudFormation, with the bundled functions, into cdk.out. Needs neither an account
 * nor, once its packages are there, a network. What follows goes to the CDK: `npm run synth -- --context authorization=none`.
 */
import { spawnSync } from 'node:child_process';
import { ensureInstalled, ROOT, say } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { CDK, ensureStackInstalled } from './stack-modules.mjs';

ensureInstalled();
ensureStackInstalled();
const [runtime] = findRuntimes();
const args = ['synth', '--quiet', '--no-notices', '--no-version-reporting', ...process.argv.slice(2)];
const { status, error } = spawnSync(runtime, [CDK, ...args], {
  cwd: ROOT,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
});
if (error !== undefined) say(`cannot run the CDK: ${error.message}`);
process.exitCode = status ?? 1;

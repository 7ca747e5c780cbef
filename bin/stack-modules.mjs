/**
 * Ensures that lib/node_modules matches lib/package-lock.json. The CDK is a separate project, because it is
 * larger than everything else, and users who only run the store never need it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT, say } from './installed.mjs';

const FOLDER = join(ROOT, 'lib');
const STAMP = join(FOLDER, 'node_modules', '.logboom-installed');

/** Script of the command `cdk`. */
export const CDK = join(FOLDER, 'node_modules', 'aws-cdk', 'bin', 'cdk');

/** Installs packages if any is missing. Exits with a message if that fails. */
export function ensureStackInstalled() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8').trim() === wanted) return;
  say('installing the packages of lib/package-lock.json (npm ci); this happens once');
  const [command, ...before] = npmCommand();
  const options = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync(command, [...before, ...options], {
    cwd: FOLDER,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && before.length === 0,
  });
  if (error !== undefined || status !== 0) {
    say(
      `npm ci failed in ${FOLDER} (${error?.message ?? `status ${status}`}); is the npm registry reachable?`,
    );
    process.exit(1);
  }
  writeFileSync(STAMP, `${wanted}\n`);
}

/** The npm that runs this process, else the one on the path. */
function npmCommand() {
  const runner = process.env.npm_execpath;
  return runner !== undefined && basename(runner) === 'npm-cli.js' ? [process.execPath, runner] : ['npm'];
}

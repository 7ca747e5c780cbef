/** Package as `npm pack` creates it, and npm as in a user's shell. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { check } from './ledger.mjs';

/** Path of the archive in `folder`; undefined, with a failed check, if there is none. */
export function packInto(folder) {
  const packed = run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, env: shellEnv() });
  const name = readdirSync(folder).find(each => each.endsWith('.tgz'));
  check('npm pack makes an archive', name !== undefined, packed.output);
  return name === undefined ? undefined : join(folder, name);
}

/** Environment without the variables that a calling npm sets, such as the project path. */
export function shellEnv(more = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      (!/^npm_/i.test(name) || /registry|cache|userconfig/i.test(name)) && !/^(LOGBOOM|LOKI)_/.test(name),
  );
  const env = { ...Object.fromEntries(kept), ...more };
  delete env.NODE_COMPILE_CACHE;
  return env;
}

export function run(file, args, { cwd, env, input }) {
  const { status, signal, stdout, stderr, error } = spawnSync(file, args, {
    ...{ cwd, env, input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  });
  return {
    status,
    signal,
    stdout: stdout ?? '',
    output: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`,
  };
}

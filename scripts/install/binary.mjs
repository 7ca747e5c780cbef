/**
 * Tests the single executable of this system: builds it, copies it into an empty folder, and runs it as on a
 * machine without Node.js.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { check, figure, skip } from './ledger.mjs';
import { run, shellEnv } from './package.mjs';
import { idleMib, MAX_IDLE_MIB, startStore, useStore } from './store.mjs';

export async function testBinary(_archive, folder) {
  const system = `${process.platform}-${process.arch}`;
  if (!['linux-x64', 'linux-arm64'].includes(system))
    return skip('single executable', `there is none for ${system}`);
  const built = run(process.execPath, [join(ROOT, 'scripts', 'build-binary.mjs')], {
    cwd: ROOT,
    env: shellEnv(),
  });
  if (!check('single executable: it is built', built.status === 0, built.output)) return;
  const made = join(ROOT, 'dist', `logboom-${system}`);
  const megabytes = statSync(`${made}.gz`).size / 1e6;
  check('single executable: at most 80 MB compressed', megabytes <= 80, `${megabytes} MB`);
  const program = join(folder, 'logboom');
  copyFileSync(made, program);
  const env = { PATH: '/nonexistent', HOME: folder };
  const linked = spawnSync('ldd', [program], { encoding: 'utf8' }).stdout ?? '';
  check('single executable: it needs libraries of the system alone', !/not found/.test(linked), linked);
  const version = run(program, ['--version'], { cwd: folder, env });
  check('single executable: it prints its version', /^\d+\.\d+\.\d+\n$/.test(version.output), version.output);
  const store = await startStore(program, ['start', '--port', '0'], { cwd: folder, env });
  if (check('single executable: it starts', store.url !== undefined, store.said)) {
    const idle = await idleMib(store.child.pid);
    check(`single executable: less than ${MAX_IDLE_MIB} MiB idle`, idle < MAX_IDLE_MIB, `${idle} MiB`);
    await useStore(store.url, 'single executable');
    const asked = run(program, ['query', '{app="install"}', '--output', 'raw', '--addr', store.url], {
      cwd: folder,
      env,
    });
    check(
      'single executable: its command finds what was pushed',
      asked.output === 'a line for single executable\n',
      asked.output,
    );
    figure('single executable', {
      'on disk, MiB': Math.round(statSync(made).size / 2 ** 20),
      'in gzip, MB': megabytes.toFixed(1),
      'ready in ms': store.readyMs,
      'RSS idle, MiB': idle,
    });
  }
  const exit = await store.stop();
  check('single executable: it stops on SIGTERM', exit.code === 0, `${JSON.stringify(exit)}\n${store.said}`);
  // Nothing except the data was written.
  check(
    'single executable: nothing is left next to it',
    readdirSync(folder).sort().join() === 'data,logboom',
    readdirSync(folder).join(),
  );
}

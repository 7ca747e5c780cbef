/**
 * Tests the single executable for arm64 on another processor: builds it, and runs it under the emulator of
 * Debian's package qemu-user-static with the libraries of libc6-arm64-cross and libstdc++6-arm64-cross. Its
 * times and memory say nothing about a real machine.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { runtimeEnvironment } from '../../bin/tuning.mjs';
import { check, figure, skip } from './ledger.mjs';
import { run, shellEnv } from './package.mjs';
import { startStore, useStore } from './store.mjs';

const EMULATOR = 'qemu-aarch64-static';
const LIBRARIES = '/usr/aarch64-linux-gnu';
const PACKAGES = 'qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross';
const NAME = 'single executable for arm64';

export async function testArm64(_archive, folder) {
  const hasEmulator = spawnSync(EMULATOR, ['--version'], { stdio: 'ignore' }).status === 0;
  if (!hasEmulator || !existsSync(`${LIBRARIES}/lib/libstdc++.so.6`))
    return skip(NAME, `Debian's packages ${PACKAGES} are needed`);
  const script = join(ROOT, 'scripts', 'build-binary.mjs');
  const built = run(process.execPath, [script, 'linux-arm64'], { cwd: ROOT, env: shellEnv() });
  if (!check(`${NAME}: it is built`, built.status === 0, built.output)) return;
  const program = join(ROOT, 'dist', 'logboom-linux-arm64');
  const megabytes = statSync(`${program}.gz`).size / 1e6;
  check(`${NAME}: at most 80 MB compressed`, megabytes <= 80, `${megabytes} MB`);
  // The emulator cannot replace its process by the program with these settings.
  const env = { ...runtimeEnvironment(), PATH: process.env.PATH, HOME: folder };
  const args = ['-L', LIBRARIES, program, 'start', '--port', '0'];
  const store = await startStore(EMULATOR, args, { cwd: folder, env });
  if (check(`${NAME}: it starts`, store.url !== undefined, store.said)) {
    await useStore(store.url, NAME);
    figure(NAME, {
      'on disk, MiB': Math.round(statSync(program).size / 2 ** 20),
      'in gzip, MB': megabytes.toFixed(1),
    });
  }
  const exit = await store.stop();
  check(`${NAME}: it stops on SIGTERM`, exit.code === 0, `${JSON.stringify(exit)}\n${store.said}`);
}

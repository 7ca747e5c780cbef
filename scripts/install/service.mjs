/**
 * Tests the systemd unit: starts the store as the unit does, as an unprivileged user and with the unit's
 * system call filter (service-sandbox.py), because systemd itself does not run in containers. Needs root,
 * python3, libseccomp2 and systemd-analyze.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { check, figure, skip } from './ledger.mjs';
import { run, shellEnv } from './package.mjs';
import { residentMib, startStore, useStore } from './store.mjs';

const UNIT = join(ROOT, 'packaging', 'logboom.service');
const SANDBOX = join(ROOT, 'scripts', 'service-sandbox.py');
const NOBODY = 65534;
const BAD_SYSTEM_CALL = 159;

export async function testService(archive, folder) {
  const reason = lacking();
  if (reason !== undefined) return skip('the unit of systemd', reason);
  const verified = run('systemd-analyze', ['verify', UNIT], { env: shellEnv() });
  // The program is not at the unit's path, because it is not installed there.
  const told = verified.output.split('\n').filter(line => line !== '' && !/not executable/.test(line));
  check('service: systemd-analyze finds nothing wrong with the unit', told.length === 0, told.join('\n'));
  const prefix = join(folder, 'usr');
  const env = shellEnv();
  const installed = run(
    'npm',
    ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', archive],
    { cwd: folder, env },
  );
  if (!check('service: npm installs the command', installed.status === 0, installed.output)) return;

  await runUnit('service', UNIT, { folder, prefix });

  // Variant that also denies setpriority: threads keep their priority, and nothing ends.
  const strict = variant(folder, 'strict.service', 'SystemCallFilter=~setpriority\n');
  await runUnit('service where setpriority is denied', strict, { folder, prefix });

  // Variant with the default action: the kernel kills the store, which proves that the filter is active.
  const killing = variant(
    folder,
    'killing.service',
    'SystemCallFilter=~setpriority\nSystemCallErrorNumber=\n',
  );
  const killed = await startUnit(killing, { folder, prefix });
  if (killed.url !== undefined)
    await useStore(killed.url, 'service that is to be killed').catch(() => undefined);
  const exit = await killed.stop();
  const isKilled = exit.signal === 'SIGSYS' || exit.code === BAD_SYSTEM_CALL;
  check('service: without an error number the kernel ends the store', isKilled, JSON.stringify(exit));
}

async function runUnit(name, unit, places) {
  const store = await startUnit(unit, places);
  if (check(`${name}: it starts`, store.url !== undefined, store.said)) {
    await useStore(store.url, name);
    figure(name, { 'ready in ms': store.readyMs, 'RSS in MiB': residentMib(store.child.pid) });
  }
  const exit = await store.stop();
  check(`${name}: it stops on SIGTERM`, exit.code === 0, `${JSON.stringify(exit)}\n${store.said}`);
}

function startUnit(unit, { folder, prefix }) {
  const text = readFileSync(unit, 'utf8');
  const places = { state: join(folder, 'state'), cache: join(folder, 'cache'), config: join(folder, 'etc') };
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true });
  for (const place of [places.state, places.cache]) chownSync(place, NOBODY, NOBODY);
  copyFileSync(join(ROOT, 'packaging', 'logboom.yaml'), join(places.config, 'logboom.yaml'));
  const here = value =>
    value
      .replaceAll('/var/lib/logboom', places.state)
      .replaceAll('/var/cache/logboom', places.cache)
      .replaceAll('/etc/logboom', places.config);
  const env = { PATH: process.env.PATH, HOME: '/' };
  for (const [, name, value] of text.matchAll(/^Environment=(\w+)=(.*)$/gm)) env[name] = here(value);
  const [, program, args] = /^ExecStart=(\S+) (.*)$/m.exec(text);
  const command = [program.replace('/usr/local', prefix), ...args.split(' '), '--port', '0'];
  return startStore('python3', [SANDBOX, unit, `${NOBODY}`, ...command], { cwd: places.state, env });
}

function variant(folder, name, lines) {
  const file = join(folder, name);
  writeFileSync(file, readFileSync(UNIT, 'utf8').replace('\n[Install]', `\n${lines}\n[Install]`));
  return file;
}

function lacking() {
  if (process.platform !== 'linux' || process.getuid() !== 0)
    return 'only root on Linux can become another user';
  const tools = [
    ['python3', ['-c', 'import ctypes; ctypes.CDLL("libseccomp.so.2")']],
    ['systemd-analyze', ['syscall-filter', '@resources']],
  ];
  const missing = tools.find(([file, args]) => spawnSync(file, args, { stdio: 'ignore' }).status !== 0);
  return missing && `${missing[0]} with libseccomp is needed`;
}

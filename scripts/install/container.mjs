/**
 * Tests the image without Docker. Builds its last stage as packaging/Dockerfile says (package, configuration,
 * folders), with Node.js and its libraries in place of the base image. Runs it as compose.yaml does: as the
 * image's user, who cannot gain rights, on a root that is mounted read-only, with a volume and two memory file
 * systems.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { findRuntimes } from '../../bin/runtime.mjs';
import { check, figure, skip } from './ledger.mjs';
import { run, shellEnv } from './package.mjs';
import { diskMib, residentMib, startStore, useStore } from './store.mjs';

/** Mounts of compose.yaml, in a mount namespace that ends with the process. Arguments: root, volume, command. */
const CONTAINER = `
set -e
root=$1 volume=$2
shift 2
/bin/mount --bind "$root" "$root"
/bin/mount -o remount,bind,ro "$root"
/bin/mount --bind "$volume" "$root/data"
for folder in tmp home/node; do /bin/mount -t tmpfs -o mode=1777 tmpfs "$root/$folder"; done
/bin/mount -t proc proc "$root/proc"
/bin/mount --rbind /dev "$root/dev"
exec /usr/bin/setpriv --no-new-privs /usr/sbin/chroot --userspec USER:USER "$root" "$@"
`;
/** ID of the user `node` in the base image. */
const USER = 1000;
const FILE = readFileSync(join(ROOT, 'packaging', 'Dockerfile'), 'utf8');
const LAST_STAGE = FILE.slice(FILE.lastIndexOf('\nFROM '));

export async function testContainer(archive, folder) {
  checkCompose();
  if (process.platform !== 'linux' || process.getuid() !== 0)
    return skip('container', 'only root on Linux can mount a root');
  const root = join(folder, 'root');
  for (const path of ['app', 'etc/logboom', 'data', 'tmp', 'usr/local/bin', 'home/node', 'proc', 'dev'])
    mkdirSync(join(root, path), { recursive: true });
  const volume = join(folder, 'volume');
  mkdirSync(volume);
  chownSync(volume, USER, USER);
  const unpacked = spawnSync('tar', ['-xzf', archive, '--strip-components=1', '-C', join(root, 'app')]);
  check('container: the package is unpacked', unpacked.status === 0, `${unpacked.stderr}`);
  copyNode(findRuntimes()[0], root);
  copyFileSync(join(ROOT, 'packaging', 'logboom.yaml'), join(root, 'etc/logboom/logboom.yaml'));
  chmodSync(root, 0o755);
  figure('container, without its base', { 'on disk, MiB': diskMib(join(root, 'app')) });

  const env = { PATH: '/usr/local/bin', HOME: '/home/node' };
  const settings = /^ENV ((?:.*\\\n)*.*)$/m.exec(LAST_STAGE)[1].replaceAll('\\\n', ' ');
  for (const [, name, value] of settings.matchAll(/(\w+)=(\S+)/g)) env[name] = value;
  check('container: it runs as a user without rights', /^USER node$/m.test(LAST_STAGE));
  const link = /ln -s (\/app\/\S+) \/usr\/local\/bin\/logboom/.exec(LAST_STAGE)?.[1];
  const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(LAST_STAGE)[1]);
  check(
    'container: its entry is the command',
    entry.join() === 'logboom' && link !== undefined,
    entry.join(),
  );
  const command = ['/usr/local/bin/node', link, ...JSON.parse(/^CMD (\["start".*)$/m.exec(LAST_STAGE)[1])];
  const script = CONTAINER.replaceAll('USER', `${USER}`);
  const inside = ['--mount', '/bin/sh', '-c', script, 'container', root, volume, ...command, '--port', '0'];
  const store = await startStore('/usr/bin/unshare', inside, { cwd: folder, env });
  if (check('container: it starts', store.url !== undefined, store.said)) {
    const url = `http://127.0.0.1:${new URL(store.url).port}`;
    await useStore(url, 'container');
    figure('container', { 'ready in ms': store.readyMs, 'RSS in MiB': residentMib(store.child.pid) });
    const status = readFileSync(`/proc/${store.child.pid}/status`, 'utf8');
    check(
      'container: its process has no rights and cannot gain any',
      /^Uid:\t1000\t1000/m.test(status) && /^CapEff:\t0+$/m.test(status) && /^NoNewPrivs:\t1$/m.test(status),
      status,
    );
    const probe = await fetch(`${url}/ready`);
    check('container: the health check succeeds', probe.ok, `${probe.status}`);
  }
  const exit = await store.stop();
  check('container: it stops on SIGTERM', exit.code === 0, `${JSON.stringify(exit)}\n${store.said}`);
  const written = run('find', [volume, '-user', `${USER}`, '-type', 'f'], { env: shellEnv() }).stdout;
  check('container: its data is in the volume', written.includes('/volume/'), written);
}

function checkCompose() {
  const { parse } = createRequire(import.meta.url)('yaml');
  const { services, volumes } = parse(readFileSync(join(ROOT, 'packaging', 'compose.yaml'), 'utf8'));
  const { build, volumes: mounted, read_only: isReadOnly, cap_drop: dropped } = services.logboom;
  const file = join(ROOT, 'packaging', build.context, build.dockerfile);
  check('container: the Dockerfile of compose exists', statSync(file).isFile());
  const names = mounted.map(mount => mount.split(':')[0]);
  check(
    'container: compose makes the volumes that it mounts',
    names.every(name => Object.hasOwn(volumes, name)),
  );
  check(
    'container: compose gives it a root that is only read, and no rights',
    isReadOnly === true && dropped.join() === 'ALL',
  );
}

/** Copies Node.js and the system libraries that it loads. */
function copyNode(node, root) {
  const target = join(root, 'usr/local/bin/node');
  copyFileSync(node, target);
  const { stdout } = spawnSync('ldd', [node], { encoding: 'utf8' });
  for (const [, library] of stdout.matchAll(/(\/\S+) \(0x/g)) {
    const place = join(root, library);
    mkdirSync(dirname(place), { recursive: true });
    copyFileSync(library, place);
  }
  // Defines localhost, as the network of a container does.
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
}

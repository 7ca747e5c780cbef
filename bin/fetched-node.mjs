/**
 * A Node for an installed package on a machine whose own is too old: the one that the package names (dist/server/node.json), from the npm
 * registry by the npm of that machine, checked by its checksum, once. Only the program is kept, without headers, symbols and languages
 * other than English (shrink-node.mjs): 80 MB instead of 200.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { npmCommand, ROOT, say } from './installed.mjs';
import { shrinkNode } from './shrink-node.mjs';

const NAMES = join(ROOT, 'dist', 'server', 'node.json');
const PROGRAM = process.platform === 'win32' ? 'node.exe' : 'node';

/** Path and version of the Node that was fetched before, or is fetched now; undefined where there is none for this system. */
export function fetchedNode(cacheFolder) {
  const known = existsSync(NAMES) ? JSON.parse(readFileSync(NAMES, 'utf8')) : {};
  const wanted = known[`${process.platform}-${process.arch}`];
  if (wanted === undefined) return undefined;
  const { version } = wanted;
  // For all users where who installs may write there, as root may.
  const places = [join(ROOT, 'dist', `node-${version}`), join(cacheFolder, `node-${version}`)];
  const found = places.map(place => join(place, PROGRAM)).find(file => existsSync(file));
  if (found !== undefined) return { path: found, version };
  const place = isWritable(join(ROOT, 'dist')) ? places[0] : places[1];
  return fetchInto(place, wanted) ? { path: join(place, PROGRAM), version } : undefined;
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function fetchInto(place, { name, version, integrity }) {
  say(
    `Node ${process.version} is too old: fetching Node ${version} from npm into ${place}; this happens once`,
  );
  mkdirSync(join(place, '..'), { recursive: true });
  const folder = mkdtempSync(`${place}.partial-`);
  try {
    const path = `node_modules/${name}`;
    const own = { name: 'fetched-node', version: '0.0.0', dependencies: { [name]: version } };
    const packages = { '': own, [path]: { version, integrity } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ name: own.name, version: own.version, lockfileVersion: 3, requires: true, packages }),
    );
    const [command, ...before] = npmCommand();
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--global=false'];
    const { error, status } = spawnSync(command, [...before, 'ci', ...options], {
      cwd: folder,
      // Of an npm that runs this: it would tell where another project is.
      env: Object.fromEntries(Object.entries(process.env).filter(([key]) => !PROJECT_SETTING.test(key))),
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32' && before.length === 0,
    });
    if (error !== undefined || status !== 0) {
      say(`it could not be fetched (${error?.message ?? `npm ended with status ${status}`})`);
      return false;
    }
    const program = join(folder, PROGRAM);
    renameSync(join(folder, path, 'bin', PROGRAM), program);
    for (const part of ['node_modules', 'package.json', 'package-lock.json'])
      rmSync(join(folder, part), { recursive: true, force: true });
    if (process.platform === 'linux') shrinkNode(program);
    // mkdtemp makes it for its owner alone.
    chmodSync(folder, 0o755);
    renameSync(folder, place);
    return true;
  } catch (error) {
    // Another process was faster.
    if (existsSync(join(place, PROGRAM))) return true;
    say(`it could not be fetched (${error.message})`);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PROJECT_SETTING = /^npm_(package_|lifecycle_|config_(prefix|local_prefix|global|omit|include|save))/i;

/** Gets agents from the registries that this machine reaches, each into a folder of its own, outside the repository. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const CACHE = join(tmpdir(), 'logboom-agents');
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** An agent that cannot be had here; the message says why. */
export class Unavailable extends Error {}

/** The root of these packages of Debian, unpacked and not installed. Throws Unavailable. */
export function debianRoot(name, packages) {
  return once(name, folder => {
    if (process.platform !== 'linux' || !succeeds('apt-get', ['--version'])) {
      throw new Unavailable('there is no apt-get');
    }
    const archives = join(folder, 'archives');
    mkdirSync(archives);
    must('apt-get', ['download', ...packages], 'apt-get cannot download it', { cwd: archives });
    for (const file of readdirSync(archives))
      must('dpkg', ['-x', join(archives, file), folder], 'dpkg cannot unpack it');
  });
}

/** Where the libraries of an unpacked root lie; the system's own come after them. */
export function librariesOf(root) {
  const { stdout } = spawnSync('find', [root, '-name', 'lib*.so*', '-not', '-type', 'd'], {
    encoding: 'utf8',
  });
  const folders = stdout.split('\n').map(file => file.slice(0, file.lastIndexOf('/')));
  return [...new Set(folders)].filter(folder => folder !== '').join(':');
}

/** The interpreter of a virtual environment with these packages of PyPI. Throws Unavailable. */
export function pythonWith(name, packages) {
  const folder = once(name, venv => {
    if (!succeeds('python3', ['--version'])) throw new Unavailable('there is no python3');
    must('python3', ['-m', 'venv', venv], 'python cannot make a virtual environment');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    must(join(venv, 'bin', 'python'), [...pip, ...packages], 'pip cannot install it');
  });
  return join(folder, 'bin', 'python');
}

/** A program made of Go modules: `files` are written and built. Throws Unavailable. */
export function goProgram(name, files) {
  const folder = once(name, place => {
    if (!succeeds('go', ['version'])) throw new Unavailable('there is no go');
    for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
    const env = {
      ...process.env,
      GOFLAGS: '-modcacherw',
      GOPATH: join(CACHE, 'go'),
      GOCACHE: join(CACHE, 'go-build'),
    };
    const options = { cwd: place, env };
    must('go', ['mod', 'tidy'], 'the Go proxy does not give all of its modules', options);
    must('go', ['build', '-o', 'program', '.'], 'go cannot build it', options);
  });
  return join(folder, 'program');
}

/** Fills a folder unless it was filled to the end before; answers it. */
function once(name, fill) {
  const folder = join(CACHE, name);
  const stamp = join(folder, '.complete');
  if (!existsSync(stamp)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    fill(folder);
    writeFileSync(stamp, '');
  }
  return folder;
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Runs a step; throws Unavailable with the last line that names what was wrong. */
function must(command, args, message, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
    ...options,
  });
  if (status === 0) return;
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.split('\n').filter(line => line.trim() !== '');
  const told = lines.findLast(line => /40[34]|not |cannot|unable|error/i.test(line)) ?? lines.at(-1);
  throw new Unavailable(`${message}: ${error?.message ?? told?.trim() ?? `status ${status}`}`);
}

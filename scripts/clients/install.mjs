/** Installs clients from the reachable registries, each into a separate folder outside the repository. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillOnce } from '../fill-once.mjs';

export const CACHE = join(tmpdir(), 'logboom-clients');
/** The collector compiles about a thousand packages. */
const INSTALL_TIMEOUT_MS = 60 * 60_000;

/** Client that cannot be installed here; the message says why. */
export class Unavailable extends Error {}

/** Root folder with these Debian packages, unpacked but not installed. Throws Unavailable. */
export function debianRoot(name, packages) {
  return once(name, packages, folder => {
    if (process.platform !== 'linux' || !succeeds('apt-get', ['--version'])) {
      throw new Unavailable('there is no apt-get');
    }
    const archives = join(folder, 'archives');
    mkdirSync(archives);
    const download = () =>
      must('apt-get', ['download', ...packages], 'apt-get cannot download it', { cwd: archives });
    try {
      download();
    } catch (error) {
      // A new machine has no package lists, or old ones.
      if (process.getuid() !== 0 || !succeeds('apt-get', ['update'])) throw error;
      download();
    }
    for (const file of readdirSync(archives))
      must('dpkg', ['-x', join(archives, file), folder], 'dpkg cannot unpack it');
  });
}

/** Library path of an unpacked root; the system's libraries come after it. */
export function librariesOf(root) {
  const { stdout } = spawnSync('find', [root, '-name', 'lib*.so*', '-not', '-type', 'd'], {
    encoding: 'utf8',
  });
  const folders = stdout.split('\n').map(file => file.slice(0, file.lastIndexOf('/')));
  return [...new Set(folders)].filter(folder => folder !== '').join(':');
}

/** Version of a package of `debianRoot`, from its archive name. */
export function debianVersion(name, packageName) {
  const file = readdirSync(join(CACHE, name, 'archives')).find(one => one.startsWith(`${packageName}_`));
  // Archive names encode the colon after an epoch: `1%3a`.
  return decodeURIComponent(file.split('_')[1]);
}

/** Python interpreter of a virtual environment with these PyPI packages. Throws Unavailable. */
export function pythonWith(name, packages) {
  const folder = once(name, packages, venv => {
    if (!succeeds('python3', ['--version'])) throw new Unavailable('there is no python3');
    must('python3', ['-m', 'venv', venv], 'python cannot make a virtual environment');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    must(join(venv, 'bin', 'python'), [...pip, ...packages], 'pip cannot install it');
  });
  return join(folder, 'bin', 'python');
}

/**
 * Folder with the libraries of these Maven artifacts (group:artifact:version) and a compiled class. Throws
 * Unavailable.
 */
export function javaWith(name, artifacts, source) {
  return once(`java-${name}`, [...artifacts, readFileSync(source, 'utf8')], folder => {
    if (!succeeds('mvn', ['--version'])) throw new Unavailable('there is no mvn');
    if (!succeeds('javac', ['--version'])) throw new Unavailable('there is no javac');
    const dependencies = artifacts.map(artifact => {
      const [group, id, version] = artifact.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`;
    });
    writeFileSync(
      join(folder, 'pom.xml'),
      '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>' +
        `<dependencies>${dependencies.join('')}</dependencies></project>`,
    );
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    must('mvn', ['--batch-mode', '-q', '-f', join(folder, 'pom.xml'), ...copy], 'Maven cannot get it');
    must('javac', ['-cp', `${folder}/*`, '-d', folder, source], 'javac cannot compile it');
  });
}

/** Program of a Go source that uses these modules (path to version). Throws Unavailable. */
export function goProgram(name, modules, source) {
  const folder = once(name, [modules, source], place => {
    if (!succeeds('go', ['version'])) throw new Unavailable('there is no go');
    const caches = { GOPATH: join(place, 'go'), GOCACHE: join(place, 'go-build') };
    // Not around the caches: Go takes each folder in it for a package.
    const own = join(place, name);
    mkdirSync(own);
    const required = Object.entries(modules).map(([module, version]) => `\t${module} ${version}\n`);
    writeFileSync(join(own, 'go.mod'), `module ${name}\n\ngo 1.25.0\n\nrequire (\n${required.join('')})\n`);
    writeFileSync(join(own, 'main.go'), source);
    // Modules that their owner can write, and therefore delete.
    const options = { cwd: own, env: { ...process.env, ...caches, GOFLAGS: '-modcacherw' } };
    must('go', ['mod', 'tidy'], 'the Go proxy does not give all of its modules', options);
    must('go', ['build', '-o', join(place, 'program'), '.'], 'go cannot build it', options);
    // 2 GB, of which the program needs nothing.
    for (const cache of Object.values(caches)) rmSync(cache, { recursive: true, force: true });
  });
  return join(folder, 'program');
}

/** Path of the folder of a client, after it was filled. */
function once(name, inputs, fill) {
  const folder = join(CACHE, name);
  fillOnce(folder, inputs, fill);
  return folder;
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Standard output of a step; throws Unavailable with the last line that describes the problem. */
function must(command, args, message, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: INSTALL_TIMEOUT_MS,
    ...options,
  });
  if (status === 0) return stdout;
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.split('\n').filter(line => line.trim() !== '');
  const told =
    lines.find(line => /: 40[34] /.test(line)) ??
    lines.findLast(line => /not |cannot|unable|error/i.test(line)) ??
    lines.at(-1);
  throw new Unavailable(`${message}: ${error?.message ?? told?.trim() ?? `status ${status}`}`);
}

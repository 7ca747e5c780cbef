/**
 * `node scripts/complete-lock.mjs [FILE]`, after `npm install` changed package-lock.json: adds the optional
 * packages of other platforms that the registry did not report. `npm ci` refuses a lock file without them on
 * every platform, although it would never fetch them. Added entries have no checksum, because the files were
 * not downloaded.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (!isLocked(path, name)) add(name, version, entry);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added.length} added${added.map(name => `\n  ${name}`).join('')}\n`);

/** Searches like Node.js: next to the package, then in each parent folder. */
function isLocked(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === '') return false;
  }
}

function add(name, version, { dev, license, engines }) {
  const words = name.split('/').pop().split('-');
  const os = SYSTEMS.filter(system => words.includes(system));
  const cpu = PROCESSORS.filter(processor => words.includes(processor));
  if (os.length !== 1 || cpu.length !== 1 || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(`${name}@${version}: its platform or version cannot be read from its name`);
  }
  const libc = words.some(word => word.startsWith('musl'))
    ? ['musl']
    : words.some(word => word.startsWith('gnu'))
      ? ['glibc']
      : undefined;
  lock.packages[`node_modules/${name}`] = {
    version,
    cpu,
    ...(dev && { dev }),
    ...(os[0] === 'linux' && libc && { libc }),
    ...(license && { license }),
    optional: true,
    os,
    ...(engines && { engines }),
  };
  added.push(`${name}@${version}`);
}

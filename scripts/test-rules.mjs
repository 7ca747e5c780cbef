/**
 * `npm run test:rules`: runs a real Alertmanager and a real Prometheus with a store on this machine. An alert
 * fires, reaches Alertmanager, survives a SIGKILL of the store and ends there. A recorded series reaches
 * Prometheus and ends when its rule is deleted. promtool accepts the store's metrics before and after. Both
 * come from Debian's packages, once, in the system's temporary folder; nothing is installed into the system.
 * If they are unavailable it prints a note, and the exit code is 0. The last line is the count:
 *
 *     1 passed, 0 failed | 0 passed, 1 failed | 0 passed, 0 failed, 1 skipped
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { CACHE, debianRoot, Unavailable } from './clients/install.mjs';
import { freePort, processes, say, sleep, until } from './processes.mjs';

const START_TIMEOUT_MS = 60_000;
const STEP_TIMEOUT_MS = 60_000;
const SHARED_FOLDER = '/usr/share/prometheus/alertmanager';
const TENANT = 'acme';
const SELECTOR = '{app="shop"}';
const GROUP = `name: shop
interval: 1s
rules:
  - record: shop:lines:count1m
    expr: sum by (app) (count_over_time(${SELECTOR}[1m]))
    labels: {origin: logs}
  - alert: TooManyErrors
    expr: sum by (app) (count_over_time(${SELECTOR} |= "error" [4s])) > 2
    for: 2s
    labels: {severity: page}
    annotations:
      summary: '{{ $labels.app | toUpper }} has {{ $value }} errors'
`;

ensureInstalled();
const startedMs = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'logboom-rules-'));
const { start, startStore, stopAll } = processes(folder);
let result;
try {
  mkdirSync(CACHE, { recursive: true });
  await run(debianRoot('prometheus', ['prometheus', 'prometheus-alertmanager']));
  result = 'passed';
} catch (error) {
  result = error instanceof Unavailable ? `SKIPPED: ${error.message}` : `FAILED: ${error.message}`;
  if (!(error instanceof Unavailable)) process.exitCode = 1;
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
say(`rules beside Alertmanager and Prometheus: ${result} (${Math.round((Date.now() - startedMs) / 1000)} s)`);
say(countOf(result));

function countOf(text) {
  if (text === 'passed') return '1 passed, 0 failed';
  return text.startsWith('SKIPPED') ? '0 passed, 0 failed, 1 skipped' : '0 passed, 1 failed';
}

async function run(root) {
  const [alertPort, metricsPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
  const alertmanager = startAlertmanager(root, alertPort);
  const prometheus = startPrometheus(root, metricsPort);
  const alertUrl = `http://127.0.0.1:${alertPort}`;
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const config = join(folder, 'logboom.yaml');
  writeFileSync(config, configuration(alertUrl, metricsUrl));
  let store = startStore(config, port);
  const url = `http://127.0.0.1:${port}`;
  await until(START_TIMEOUT_MS, alertmanager, async () => (await fetch(`${alertUrl}/-/ready`)).ok);
  await until(START_TIMEOUT_MS, prometheus, async () => (await fetch(`${metricsUrl}/-/ready`)).ok);
  await until(START_TIMEOUT_MS, store, async () => (await fetch(`${url}/ready`)).ok);
  await checkMetrics(root, url);
  say('ok  promtool has no complaint about the metrics');
  checkMonitoring(root);
  say('ok  promtool accepts the scrape configuration and the alerts of docs/operate/monitor.md');
  const headers = { 'X-Scope-OrgID': TENANT };
  const rules = `${url}/svc/api/v1/rules/space`;
  await must(fetch(rules, { method: 'POST', headers, body: GROUP }), 202);
  say('ok  the group is stored');

  // Errors continue until the alert was seen.
  let erring = true;
  const pushing = (async () => {
    while (erring) {
      await push(url, headers, 'error: sold out').catch(() => undefined);
      await sleep(300);
    }
  })();
  try {
    let [first] = await untilSome(store, () => alertsAt(alertUrl));
    expectEqual(first.labels, { alertname: 'TooManyErrors', app: 'shop', cluster: 'test', severity: 'page' });
    if (!/^SHOP has \d+ errors$/.test(first.annotations.summary))
      throw new Error(`summary: ${first.annotations.summary}`);
    say('ok  Alertmanager has the alert');
    store.child.kill('SIGKILL');
    await store.exited;
    store = startStore(config, port);
    await until(START_TIMEOUT_MS, store, async () => (await fetch(`${url}/ready`)).ok);
    // The same alert after another evaluation: its start does not change.
    const { updatedAt: before, startsAt } = first;
    await until(STEP_TIMEOUT_MS, store, async () => {
      [first] = await alertsAt(alertUrl);
      return first !== undefined && first.updatedAt > before;
    });
    expectEqual(first.startsAt, startsAt);
    say('ok  after a SIGKILL of the store it is the same alert');
  } finally {
    erring = false;
    await pushing;
  }
  await until(STEP_TIMEOUT_MS, store, async () => (await alertsAt(alertUrl)).length === 0);
  say('ok  it is resolved');
  const [recorded] = await untilSome(store, () => ask(metricsUrl, 'shop:lines:count1m'));
  const { __name__: name, ...labels } = recorded.metric;
  expectEqual([name, labels], ['shop:lines:count1m', { app: 'shop', origin: 'logs' }]);
  if (!(Number(recorded.value[1]) > 0)) throw new Error(`value ${recorded.value[1]}`);
  const fired = await ask(
    metricsUrl,
    'count_over_time(ALERTS{alertname="TooManyErrors",alertstate="firing"}[5m])',
  );
  if (fired.length !== 1) throw new Error(`series of the alert: ${JSON.stringify(fired)}`);
  const refused = await ask(metricsUrl, 'prometheus_target_scrapes_sample_duplicate_timestamp_total');
  expectEqual(refused, []);
  say('ok  Prometheus has the recorded series and the alert');
  await must(fetch(rules, { method: 'POST', headers, body: 'name: shop\ninterval: 1s\nrules: []\n' }), 202);
  await until(STEP_TIMEOUT_MS, store, async () => (await ask(metricsUrl, 'shop:lines:count1m')).length === 0);
  say('ok  the series ends with its rule');
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const dropped = /^logboom_rule_samples_dropped_total (\d+)/m.exec(metrics)?.[1];
  expectEqual(dropped, '0');
  await checkMetrics(root, url);
  say('ok  nor once there was work');
}

/** Runs `promtool check metrics` on the store's metrics. Throws with its complaints. */
async function checkMetrics(root, url) {
  const input = await (await must(fetch(`${url}/metrics`), 200)).text();
  const args = ['check', 'metrics'];
  const { status, stdout, stderr } = spawnSync(join(root, 'usr/bin/promtool'), args, {
    input,
    encoding: 'utf8',
    timeout: STEP_TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(`promtool check metrics, exit status ${status}: ${stdout}${stderr}`);
}

/** Checks the files that a user takes from docs/operate/monitor.md. */
function checkMonitoring(root) {
  const page = readFileSync(join(ROOT, 'docs/operate/monitor.md'), 'utf8');
  const config = join(folder, 'monitor.yml');
  writeFileSync(config, /```yaml .*\n(scrape_configs:[^`]*)```/.exec(page)[1]);
  for (const args of [
    ['config', config],
    ['rules', join(ROOT, 'docs/dashboards/logboom-alerts.yaml')],
  ]) {
    const { status, stdout, stderr } = spawnSync(join(root, 'usr/bin/promtool'), ['check', ...args], {
      encoding: 'utf8',
      timeout: STEP_TIMEOUT_MS,
    });
    if (status !== 0) throw new Error(`promtool check ${args[0]}, exit status ${status}: ${stdout}${stderr}`);
  }
}

function configuration(alertUrl, metricsUrl) {
  return `auth_enabled: true
ruler:
  poll_interval: 500ms
  resend_delay: 1s
  alertmanager_url: ${alertUrl}
  external_labels: {cluster: test}
  remote_write:
    enabled: true
    clients:
      prometheus: {url: '${metricsUrl}/api/v1/write'}
`;
}

function startAlertmanager(root, port) {
  const config = join(folder, 'alertmanager.yml');
  writeFileSync(config, 'route: {receiver: none}\nreceivers: [{name: none}]\n');
  return start('alertmanager', [
    movedAlertmanager(root),
    `--config.file=${config}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
}

/**
 * Copies Debian's program, which reads templates from a fixed system folder, and replaces that path in the
 * copy with a folder of this test, padded with slashes. Throws Unavailable.
 */
function movedAlertmanager(root) {
  const own = join(folder, 'am');
  cpSync(join(root, SHARED_FOLDER), own, { recursive: true });
  const bytes = readFileSync(join(root, 'usr/bin/prometheus-alertmanager'));
  if (own.length > SHARED_FOLDER.length)
    throw new Unavailable(`the temporary folder ${own} has too long a name`);
  const name = Buffer.from(own.padEnd(SHARED_FOLDER.length, '/'));
  for (let at = bytes.indexOf(SHARED_FOLDER); at >= 0; at = bytes.indexOf(SHARED_FOLDER, at + 1))
    name.copy(bytes, at);
  const program = join(folder, 'alertmanager-program');
  writeFileSync(program, bytes, { mode: 0o755 });
  return program;
}

function startPrometheus(root, port) {
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, 'global: {scrape_interval: 1h}\n');
  return start('prometheus', [
    join(root, 'usr/bin/prometheus'),
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'prometheus')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-remote-write-receiver',
  ]);
}

async function push(url, headers, line) {
  const streams = [{ stream: { app: 'shop' }, values: [[`${BigInt(Date.now()) * 1_000_000n}`, line]] }];
  await must(
    fetch(`${url}/loki/api/v1/push`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ streams }),
    }),
    204,
  );
}

/** Active alerts. */
async function alertsAt(url) {
  const answer = await must(fetch(`${url}/api/v2/alerts?active=true`), 200);
  return answer.json();
}

async function ask(url, query) {
  const answer = await must(fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`), 200);
  return (await answer.json()).data.result;
}

async function untilSome(process, read) {
  let found = [];
  await until(STEP_TIMEOUT_MS, process, async () => {
    found = await read();
    return found.length > 0;
  });
  return found;
}

async function must(asked, status) {
  const answer = await asked;
  if (answer.status !== status) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`);
  return answer;
}

function expectEqual(found, wanted) {
  const sorted = value =>
    Array.isArray(value) || typeof value !== 'object' ? value : Object.entries(value).sort();
  if (JSON.stringify(sorted(found)) !== JSON.stringify(sorted(wanted))) {
    throw new Error(`found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
  }
}

/**
 * `npm run test:clients`: runs unmodified clients against a store on this machine. Clients come from npm,
 * Debian, PyPI, Maven and Go registries, once, into the system's temporary folder; nothing is installed into
 * the system. Unavailable clients are named and skipped.
 *
 *     1. Each agent that retries sends 400 of 1,000 lines, the store is killed (SIGKILL), they send 300 more, the store is
 *        started again, they send the rest. Agents that do not retry send their lines after that.
 *     2. Every line of each agent must be stored once, and as it was sent (scripts/clients/lines.mjs).
 *     3. Query clients read what was sent (scripts/clients/query-clients.mjs).
 *
 *     --quick          only clients of npm and Debian
 *     --only PATTERN   clients whose name matches it
 *     --write-docs     updates the table of versions in docs/send/tested-clients.md
 *
 * The last line:
 *
 *     N passed, N failed, N skipped
 */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { CLIENTS } from './clients/clients.mjs';
import { CACHE, Unavailable } from './clients/install.mjs';
import { oddLines } from './clients/lines.mjs';
import { QUERY_CLIENTS } from './clients/query-clients.mjs';
import { withVersions } from './clients/versions-table.mjs';
import { freePort, processes, say, sleep, stop, until } from './processes.mjs';

const COUNT = 1000;
/**
 * Lines sent before the kill, the last 100 of which are in flight when it comes; and lines sent while the
 * store is down.
 */
const BEFORE = 300;
const AT_KILL = 400;
const WHILE_DOWN = 700;
const DOWN_MS = 3000;
const START_TIMEOUT_MS = 60_000;
/** Clients wait for a batch to fill, and longer after each attempt; the collector has the longest delay. */
const ARRIVAL_TIMEOUT_MS = 120_000;

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
});
ensureInstalled();
mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'logboom-test-clients-'));
const { start, startStore, stopAll } = processes(folder);
const lines = oddLines(COUNT);
const isWanted = ({ name, quick }) =>
  (!flags.quick || quick) && (flags.only === undefined || new RegExp(flags.only).test(name));
const outcomes = [];
try {
  await run();
} catch (error) {
  tell({ name: 'the store' }, 'failed', error.message);
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
const count = wanted => outcomes.filter(({ result }) => result === wanted).length;
if (flags['write-docs']) writeVersions();
say(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
process.exitCode = count('failed') > 0 ? 1 : 0;

async function run() {
  // Some clients cannot set a header: all use one tenant, with the lines of each under a separate label.
  const config = join(folder, 'logboom.yaml');
  // Allows many lines of the same second, because many clients send at once.
  writeFileSync(
    config,
    'auth_enabled: false\nlimits_config: {ingestion_rate_mb: 100, ingestion_burst_size_mb: 100}\n',
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const shippers = CLIENTS.filter(isWanted).flatMap(client => prepared(client, url));
  let store = await startedStore(config, port, url);

  const retrying = shippers.filter(({ client }) => client.retries);
  for (const shipper of retrying) begin(shipper);
  feed(retrying, 0, BEFORE);
  // A client that cannot start fails when its lines are read.
  await Promise.all(
    retrying.map(shipper => arrived(shipper, url, 1).catch(error => (shipper.error = error.message))),
  );
  feed(retrying, BEFORE, AT_KILL);
  store.child.kill('SIGKILL');
  await store.exited;
  feed(retrying, AT_KILL, WHILE_DOWN);
  await sleep(DOWN_MS);
  store = await startedStore(config, port, url);
  const others = shippers.filter(({ client }) => !client.retries);
  for (const shipper of others) begin(shipper);
  feed(others, 0, WHILE_DOWN);
  feed(shippers, WHILE_DOWN, COUNT);
  for (const { ran } of shippers) ran.child.stdin?.end();
  for (const shipper of shippers) await judge(shipper, url);
  await Promise.all(shippers.map(({ ran }) => stop(ran)));
  for (const client of QUERY_CLIENTS.filter(isWanted)) await query(client, { url, lines, outcomes });
}

async function startedStore(config, port, url) {
  const store = startStore(config, port);
  await until(START_TIMEOUT_MS, store, async () => (await fetch(`${url}/ready`)).ok);
  return store;
}

/** List with the client, or an empty list if it is not available. */
function prepared(client, url) {
  const own = mkdtempSync(join(folder, 'client-'));
  const input = join(own, 'input.log');
  writeFileSync(input, '');
  try {
    return [{ client, input, command: client.prepare({ folder: own, url, input }) }];
  } catch (error) {
    tell(client, error instanceof Unavailable ? 'skipped' : 'failed', error.message);
    return [];
  }
}

function begin(shipper) {
  const { client, command } = shipper;
  const { argv, environment } = command;
  shipper.ran = start(client.name, argv, { environment, input: client.feed === 'stdin' });
}

function feed(shippers, from, to) {
  const text = lines
    .slice(from, to)
    .map(line => `${line}\n`)
    .join('');
  for (const { client, input, ran } of shippers) {
    if (client.feed === 'file') appendFileSync(input, text);
    else ran.child.stdin.write(text);
  }
}

/** Stored lines, once there are `wanted`. A program that logs its input may have ended. */
async function arrived({ client, ran }, url, wanted) {
  let found = [];
  await until(ARRIVAL_TIMEOUT_MS, client.feed === 'file' ? ran : undefined, async () => {
    found = await linesOf(url, client);
    return found.length >= wanted;
  }).catch(error => {
    throw new Error(`${error.message}; ${wrongIn(found)}; it said: ${ran.said().slice(-400)}`);
  });
  return found;
}

async function judge(shipper, url) {
  const { client, command, error } = shipper;
  try {
    if (error !== undefined) throw new Error(error);
    const wrong = wrongIn(await arrived(shipper, url, COUNT));
    if (wrong !== '') throw new Error(wrong);
    tell(client, 'passed', client.retries ? 'during a kill of the store' : '', command.version);
  } catch (failure) {
    tell(client, 'failed', failure.message, command.version);
  }
}

/** Difference from what was sent, or an empty text. */
function wrongIn(found) {
  const counts = new Map();
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
  const missing = lines.filter(line => !counts.has(line));
  const unknown = [...counts.keys()].filter(line => !lines.includes(line));
  const repeated = [...counts.values()].filter(times => times > 1).length;
  const example = ([line]) => (line === undefined ? '' : ` such as ${JSON.stringify(line.slice(0, 120))}`);
  return [
    missing.length > 0 && `${missing.length} of ${COUNT} lines are missing${example(missing)}`,
    unknown.length > 0 && `${unknown.length} lines were never sent${example(unknown)}`,
    repeated > 0 && `${repeated} lines are there more than once`,
  ]
    .filter(Boolean)
    .join(', ');
}

async function linesOf(url, { selector, lineOf = line => line }) {
  const query = new URLSearchParams({ query: selector, limit: '5000' });
  const answer = await fetch(`${url}/loki/api/v1/query_range?${query}`);
  if (!answer.ok) throw new Error(`the query was answered ${answer.status}: ${await answer.text()}`);
  const { data } = await answer.json();
  return data.result.flatMap(({ values }) => values.map(([, line]) => lineOf(line)));
}

async function query(client, given) {
  try {
    const own = mkdtempSync(join(folder, 'client-'));
    const { version, did } = await client.check({ ...given, folder: own, start });
    tell(client, 'passed', did, version);
  } catch (error) {
    tell(client, error instanceof Unavailable ? 'skipped' : 'failed', error.message);
  }
}

function tell(client, result, detail, version = '') {
  outcomes.push({ client, result, detail, version });
  const shown = { passed: 'passed  ', failed: 'FAILED  ', skipped: 'SKIPPED ' }[result];
  const protocol = client.protocol === undefined ? '' : `, ${client.protocol}`;
  const what = [version, detail].filter(text => text !== '').join(', ');
  say(`${shown} ${client.name}${protocol}${what === '' ? '' : `: ${what}`}`);
}

function writeVersions() {
  const file = join(ROOT, 'docs', 'send', 'tested-clients.md');
  const clients = [...CLIENTS, ...QUERY_CLIENTS];
  writeFileSync(file, withVersions(readFileSync(file, 'utf8'), { clients, outcomes, lineCount: COUNT }));
}

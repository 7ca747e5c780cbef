/**
 * `npm run test:clients`: runs unmodified clients against a store on this machine. Clients come from npm,
 * Debian, PyPI, Maven and Go registries, once, into the system's temporary folder; nothing is installed into
 * the system. Unavailable clients are named and skipped.
 *
 *     1. Each agent that retries sends 400 of 1,000 lines, the store is killed (SIGKILL), they send 300 more, the store is
 *        started again, and they reach it while it starts.
 *     2. Agents that do not retry send their lines.
 *     3. Each agent that backs off sends 150 lines while the store answers 429. Once each agent got a 429, the
 *        store accepts pushes again, and the agents send the rest.
 *     4. Every line of each agent must be stored once, and as it was sent (scripts/clients/lines.mjs).
 *     5. Query clients read what was sent (scripts/clients/query-clients.mjs).
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
import { createRelay } from './clients/relay.mjs';
import { storedLines } from './clients/stored-lines.mjs';
import { withVersions } from './clients/versions-table.mjs';
import { freePort, processes, say, sleep, stop, until } from './processes.mjs';

const COUNT = 1000;
/**
 * Lines sent before the kill, the last 100 of which are in flight when it comes; lines sent while the store is
 * down; and lines sent while it answers 429.
 */
const BEFORE = 300;
const AT_KILL = 400;
const WHILE_DOWN = 700;
const WHILE_THROTTLED = 850;
const DOWN_MS = 3000;
const START_TIMEOUT_MS = 60_000;
/** Time in which each agent must meet a 429. */
const THROTTLE_TIMEOUT_MS = 60_000;
/** Tenant of a store without authentication, and limits below which no push is accepted. */
const THROTTLED = 'overrides: {fake: {ingestion_rate_mb: 0.000001, ingestion_burst_size_mb: 0.000001}}\n';

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
const relays = [];
try {
  await run();
} catch (error) {
  tell({ name: 'the store' }, 'failed', error.message);
} finally {
  await stopAll();
  for (const relay of relays) relay.close();
  rmSync(folder, { recursive: true, force: true });
}
const count = wanted => outcomes.filter(({ result }) => result === wanted).length;
if (flags['write-docs']) writeVersions();
say(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
process.exitCode = count('failed') > 0 ? 1 : 0;

async function run() {
  const [config, overrides] = ['logboom.yaml', 'overrides.yaml'].map(file => join(folder, file));
  // Some clients cannot set a header: all use one tenant, with the lines of each under a separate label.
  writeFileSync(
    config,
    'auth_enabled: false\n' +
      // Allows many lines of the same second, because many clients send at once.
      'limits_config: {ingestion_rate_mb: 100, ingestion_burst_size_mb: 100}\n' +
      `runtime_config: {file: ${JSON.stringify(overrides)}, period: 100ms}\n`,
  );
  writeFileSync(overrides, 'overrides: {}\n');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const stored = storedLines(url, lines);
  const shippers = [];
  for (const client of CLIENTS.filter(isWanted)) shippers.push(...(await prepared(client, port)));
  let store = startStore(config, port);
  await ready(store, url);

  const retrying = shippers.filter(({ client }) => client.retries);
  const [idle, sending] = [retrying.filter(losesBroken), retrying.filter(shipper => !losesBroken(shipper))];
  await begin(retrying);
  feed(retrying, 0, BEFORE);
  await all(sending, shipper => stored.arrived(shipper, 1));
  await all(idle, shipper => stored.arrived(shipper, BEFORE));
  feed(sending, BEFORE, AT_KILL);
  store.child.kill('SIGKILL');
  for (const { relay } of retrying) relay.close();
  await store.exited;
  feed(idle, BEFORE, AT_KILL);
  feed(retrying, AT_KILL, WHILE_DOWN);
  await sleep(DOWN_MS);
  store = startStore(config, port);
  await Promise.all(retrying.map(({ relay }) => relay.openWithStore(store)));
  await ready(store, url);
  await all(retrying, shipper => stored.arrived(shipper, WHILE_DOWN));

  const others = shippers.filter(({ client }) => !client.retries);
  const [brief, plain] = [others.filter(backsOff), others.filter(shipper => !backsOff(shipper))];
  await begin(others);
  feed(brief, 0, WHILE_DOWN);
  feed(plain, 0, COUNT);
  end(plain);
  await all(brief, shipper => stored.arrived(shipper, WHILE_DOWN));
  await all(plain, shipper => stored.compare(shipper));

  // Those that give up early first, so that they do not wait for the others.
  for (const group of [brief, retrying.filter(backsOff)]) {
    await throttle(group, { overrides, url });
    feed(group, WHILE_THROTTLED, COUNT);
    end(group);
    await all(group, shipper => stored.compare(shipper));
  }
  const unthrottled = retrying.filter(shipper => !backsOff(shipper));
  feed(unthrottled, WHILE_DOWN, COUNT);
  end(unthrottled);
  await all(unthrottled, shipper => stored.compare(shipper));
  for (const { client, command, error } of shippers) {
    if (error === undefined) tell(client, 'passed', survived(client), command.version);
    else tell(client, 'failed', error, command.version);
  }
  await Promise.all(shippers.map(({ ran }) => stop(ran)));
  for (const client of QUERY_CLIENTS.filter(isWanted)) await query(client, { url, lines, outcomes });
}

function ready(store, url) {
  return until(START_TIMEOUT_MS, store, async () => (await fetch(`${url}/ready`)).ok);
}

/** List with the client, or an empty list if it is not available. */
async function prepared(client, port) {
  const own = mkdtempSync(join(folder, 'client-'));
  const input = join(own, 'input.log');
  writeFileSync(input, '');
  const relay = await createRelay(port);
  relays.push(relay);
  try {
    return [{ client, input, relay, command: await client.prepare({ folder: own, url: relay.url, input }) }];
  } catch (error) {
    tell(client, error instanceof Unavailable ? 'skipped' : 'failed', error.message);
    return [];
  }
}

async function begin(shippers) {
  for (const shipper of shippers) {
    const { client, command, relay } = shipper;
    await relay.open();
    const { argv, environment } = command;
    shipper.ran = start(client.name, argv, { environment, input: client.feed === 'stdin' });
  }
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

function end(shippers) {
  for (const { ran } of shippers) ran.child.stdin?.end();
}

/** A step of all clients. One that failed keeps its first error, and does not hold up the others again. */
async function all(shippers, step) {
  const working = shippers.filter(({ error }) => error === undefined);
  await Promise.all(working.map(shipper => step(shipper).catch(error => (shipper.error = error.message))));
}

/** Feeds lines while the store answers 429, until each client got one. */
async function throttle(shippers, { overrides, url }) {
  if (shippers.length === 0) return;
  writeFileSync(overrides, THROTTLED);
  await answers(url, 429);
  const before = new Map(shippers.map(shipper => [shipper, shipper.relay.count(429)]));
  feed(shippers, WHILE_DOWN, WHILE_THROTTLED);
  await all(shippers, shipper =>
    until(THROTTLE_TIMEOUT_MS, undefined, () => shipper.relay.count(429) > before.get(shipper)).catch(() => {
      throw new Error(`it sent nothing that was answered 429; it said: ${shipper.ran.said().slice(-400)}`);
    }),
  );
  writeFileSync(overrides, 'overrides: {}\n');
  await answers(url, 204);
}

/** Waits until the store answers pushes with this status. */
function answers(url, status) {
  return until(THROTTLE_TIMEOUT_MS, undefined, async () => {
    const values = [[`${BigInt(Date.now()) * 1_000_000n}`, 'probe']];
    const answer = await fetch(`${url}/loki/api/v1/push`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ streams: [{ stream: { app: 'probe' }, values }] }),
    });
    await answer.text();
    return answer.status === status;
  });
}

function losesBroken({ client }) {
  return client.losesBroken === true;
}

/** Whether a client repeats a push that was answered 429, for a few seconds at least. */
function backsOff({ client }) {
  return client.backsOff ?? client.retries;
}

function survived(client) {
  const kill = `a kill of the store${client.losesBroken ? ' between its requests' : ''}`;
  const what = [client.retries && kill, backsOff({ client }) && '429'].filter(Boolean);
  return what.length === 0 ? '' : `through ${what.join(' and ')}`;
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

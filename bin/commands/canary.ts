/**
 * `logboom canary`: writes known entries into a store, and verifies them by live tail, queries and counts.
 */
import { createServer, type Server } from 'node:http';
import { hostname } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../../shared/base/model/errors.ts';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { type CanaryMetrics, createCanaryMetrics } from '../../shared/server/canary/canary-metrics.ts';
import {
  type CanaryTail,
  type CanaryTotals,
  isHealthy,
  runLiveCanary,
} from '../../shared/server/canary/live-canary.ts';
import type { CanarySend } from '../../shared/server/canary/requests.ts';
import { asAction, CommandError, EXIT_FAILED } from '../cli/command-error.ts';
import { parseSince } from '../cli/range-options.ts';
import { print, say } from '../cli/standard-output.ts';
import { addStoreOptions, endpoint, type StoreFlags, sendRequest } from '../cli/store-client.ts';
import { followTail } from '../cli/tail-client.ts';

interface CanaryFlags extends StoreFlags {
  readonly name: string;
  readonly interval: bigint;
  readonly lines: number;
  readonly wait: bigint;
  readonly checkInterval: bigint;
  readonly remember: bigint;
  readonly duration: bigint;
  readonly metricsHost: string;
  readonly metricsPort: number;
}

/** Same port as Loki's canary. */
const DEFAULT_PORT = 3500;
const MAX_LINES = 1000;
const MAX_PORT = 65_535;
const MIN_INTERVAL_NS = 10n * NS_PER_MS;
const REQUEST_TIMEOUT_MS = 30_000;
/** Delay before a refused or unreachable tail is reopened. */
const TAIL_PAUSE_MS = 2000;
/** Entry limit of a tail: more than the lines of a disconnect of minutes, and allowed by every store. */
const TAIL_LIMIT = 5000;

const NOTES = `
Every --interval the canary pushes --lines entries. Each must arrive in a live tail within --wait. Every --check-interval it reads a
random older batch, and compares a metric query with what it wrote. A failed push is retried unchanged until the store
acknowledges it. On SIGINT, SIGTERM or after --duration it reads all entries of --remember again and prints its totals as JSON.
Metrics are at http://METRICS-HOST:METRICS-PORT/metrics.

Exit codes:
  0  every acknowledged entry arrived in the tail, and every query returned it once
  1  an entry was missing, duplicated, or late in the tail; a count was wrong; or the store refused a push

Examples:
  logboom canary                                          until it is stopped, metrics on port ${DEFAULT_PORT}
  logboom canary --duration 10m --check-interval 15s      a test of ten minutes
  logboom canary --tenant canary --name eu-1 --lines 50   one of several canaries`;

export function register(program: Command): void {
  const duration = (flags: string, text: string, initial: string) =>
    new Option(flags, text).argParser(parseSince).default(parseSince(initial), initial);
  const command = program
    .command('canary')
    .description('write known entries and verify that the store returns each of them once')
    .addOption(
      new Option('--name <name>', 'value of the label "instance"; unique among canaries of a tenant').default(
        `${hostname()}-${process.pid}`,
        'HOST-PID',
      ),
    )
    .addOption(duration('--interval <duration>', 'time between pushes (minimum 10ms)', '1s'))
    .addOption(
      new Option('--lines <count>', `entries per push (maximum ${MAX_LINES})`)
        .argParser(text => parseWhole(text, 1, MAX_LINES))
        .default(10),
    )
    .addOption(duration('--wait <duration>', 'maximum time until an entry arrives in the tail', '1m'))
    .addOption(duration('--check-interval <duration>', 'time between spot checks and metric tests', '1m'))
    .addOption(duration('--remember <duration>', 'maximum age of entries to check', '1h'))
    .addOption(duration('--duration <duration>', 'total time (0s = until stopped)', '0s'))
    .addOption(
      new Option('--metrics-host <address>', 'address for metrics').default('127.0.0.1', '127.0.0.1'),
    )
    .addOption(
      new Option('--metrics-port <port>', 'port for metrics (0 = none)')
        .argParser(text => parseWhole(text, 0, MAX_PORT))
        .default(DEFAULT_PORT),
    );
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(canary));
}

async function canary(flags: CanaryFlags): Promise<void> {
  if (flags.interval < MIN_INTERVAL_NS) throw new CommandError('--interval must be at least 10ms');
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const metrics = createCanaryMetrics();
  const server = flags.metricsPort === 0 ? undefined : await serveMetrics(metrics, flags);
  try {
    const totals = await runLiveCanary(
      {
        send: sendTo(flags),
        tail: tailOf(flags),
        clock: SYSTEM_CLOCK,
        ids: SYSTEM_IDS,
        metrics,
        note: text => say(`logboom: ${text}\n`),
      },
      {
        stream: { job: 'logboom-canary-live', instance: flags.name },
        intervalMs: ms(flags.interval),
        lines: flags.lines,
        waitMs: ms(flags.wait),
        checkIntervalMs: ms(flags.checkInterval),
        rememberMs: ms(flags.remember),
        durationMs: ms(flags.duration),
      },
      stopping.signal,
    );
    await reportTotals(totals);
  } finally {
    server?.close();
    server?.closeAllConnections();
  }
}

async function reportTotals(totals: CanaryTotals): Promise<void> {
  await print(`${JSON.stringify(totals)}\n`);
  if (!isHealthy(totals)) process.exitCode = EXIT_FAILED;
}

function sendTo(flags: CanaryFlags): CanarySend {
  return async ({ method, path, query = {}, body }) => {
    const url = endpoint(flags, path);
    url.search = new URLSearchParams(query).toString();
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const { status, text } = await sendRequest(flags, url, {
      method,
      headers,
      timeoutMs: REQUEST_TIMEOUT_MS,
      ...(body === undefined ? {} : { body }),
    });
    return { status, text };
  };
}

/** Retries if the store is down when the canary starts, or refuses the tail for a while. */
function tailOf(flags: CanaryFlags): CanaryTail {
  return async ({ query, startMs }, handlers, signal) => {
    const startNs = BigInt(startMs) * NS_PER_MS;
    let lastText = '';
    const note = (text: string) => {
      if (text !== lastText) say(`logboom: tail: ${text}\n`);
      lastText = text;
    };
    while (!signal.aborted) {
      try {
        await followTail(
          flags,
          { query, startNs, limit: TAIL_LIMIT, delaySeconds: 0 },
          {
            entries: async entries => {
              for (const { line } of entries) handlers.line(line);
            },
            repeated: ({ line }) => handlers.repeated(line),
            note,
          },
          { clock: SYSTEM_CLOCK, signal },
        );
      } catch (error) {
        note(messageOf(error));
        await SYSTEM_CLOCK.sleep(TAIL_PAUSE_MS, signal).catch(() => undefined);
      }
    }
  };
}

/** Throws CommandError if the port is taken. */
function serveMetrics(
  { registry }: CanaryMetrics,
  { metricsHost, metricsPort }: CanaryFlags,
): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.text());
  });
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const address = `${metricsHost}:${metricsPort}`;
      const hint = 'use another --metrics-port, or 0 to disable metrics';
      reject(new CommandError(`cannot serve metrics at ${address} (${messageOf(error)}); ${hint}`));
    });
    server.listen(metricsPort, metricsHost, () => resolve(server));
  });
}

function ms(ns: bigint): number {
  return Number(ns / NS_PER_MS);
}

function parseWhole(text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  return value;
}

/**
 * Clients that read the store. `check` resolves to a summary and the version, and throws if a result is
 * wrong. `lines` were sent by the agents that passed (`outcomes`).
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bin/installed.mjs';
import { freePort, until } from '../processes.mjs';
import { debianVersion, Unavailable } from './install.mjs';
import { lokiProgram } from './programs.mjs';

const TIMEOUT_MS = 120_000;
/** Entries that loki-canary writes, ten per second. */
const CANARY_ENTRIES = 300;

export const QUERY_CLIENTS = [
  {
    name: 'logcli',
    protocol: 'queries',
    async check({ url, lines, outcomes }) {
      const { program, version } = lokiProgram('logcli');
      const logcli = (...args) => succeed(program, ['--addr', url, '--quiet', ...args]);
      const shipper = outcomes.find(
        ({ client, result }) => result === 'passed' && client.selector && !client.lineOf,
      );
      if (shipper === undefined) throw new Error('no shipper left lines to read');
      const { selector } = shipper.client;
      // Batches of 100: logcli pages by time, and skips what the previous page had.
      const read = logcli(
        ...['query', selector, '--limit', '2000', '--batch', '100', '--since', '1h'],
        '-o',
        'raw',
      );
      const found = read.split('\n').slice(0, -1);
      const wrong = lines.filter(line => !found.includes(line)).length;
      if (found.length !== lines.length || wrong > 0)
        throw new Error(`query: ${found.length} lines, not ${lines.length}; ${wrong} are missing`);
      const counted = JSON.parse(logcli('instant-query', `sum(count_over_time(${selector}[1h]))`));
      if (counted[0]?.value?.[1] !== `${lines.length}`) throw new Error(`count: ${JSON.stringify(counted)}`);
      const [label] = /\w+/.exec(selector);
      if (!logcli('labels').includes(label)) throw new Error(`labels do not hold ${label}`);
      if (!logcli('series', selector).includes(label)) throw new Error('series does not hold the stream');
      logcli('stats', selector);
      logcli('volume', selector);
      logcli('detected-fields', selector);
      return {
        version,
        did: 'query, instant-query, labels, series, stats, volume, detected-fields',
      };
    },
  },
  {
    name: 'lokitool',
    protocol: 'rules',
    async check({ url, folder }) {
      const { program, version } = lokiProgram('lokitool');
      const file = join(folder, 'rules.yaml');
      const group = expr =>
        `namespace: trial\ngroups:\n  - name: shop\n    rules:\n      - record: shop:lines\n        expr: ${expr}\n`;
      writeFileSync(file, group('sum(rate({app="shop"}[1m]))'));
      const rules = (...args) => succeed(program, ['rules', ...args, `--address=${url}`, '--id=fake']);
      rules('sync', file);
      if (!rules('print', '--disable-color').includes('shop:lines'))
        throw new Error('print does not show the rule');
      rules('delete', 'trial', 'shop');
      if (rules('print', '--disable-color').includes('shop:lines'))
        throw new Error('the rule is still there');
      return { version, did: 'rules sync, print, delete' };
    },
  },
  {
    name: 'loki-canary',
    protocol: 'push, tail, queries',
    async check({ url, start }) {
      const { program, version } = lokiProgram('loki-canary');
      const port = await freePort();
      const canary = start('loki-canary', [
        ...[program, `-addr=${new URL(url).host}`, '-push=true', `-port=${port}`, '-interval=100ms'],
        ...['-wait=10s', '-max-wait=20s', '-pruneinterval=5s', '-spot-check-interval=5s'],
        ...['-spot-check-query-rate=5s', '-metric-test-interval=10s', '-metric-test-range=30s'],
      ]);
      const figures = async () => {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        const of = name =>
          Number(new RegExp(`^loki_canary_${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? 0);
        return { entries: of('entries_total'), spotChecks: of('spot_check_entries_total'), of };
      };
      await until(TIMEOUT_MS, canary, async () => {
        const { entries, spotChecks } = await figures();
        return entries >= CANARY_ENTRIES && spotChecks > 0;
      });
      const { of, entries, spotChecks } = await figures();
      for (const name of ['missing', 'spot_check_missing', 'websocket_missing', 'duplicate', 'unexpected']) {
        const value = of(`${name}_entries_total`);
        if (value !== 0) throw new Error(`${name}: ${value} of ${entries} entries`);
      }
      return {
        version,
        did: `${CANARY_ENTRIES} entries and ${spotChecks} spot checks or more, none missing`,
      };
    },
  },
  {
    name: 'Prometheus, Alertmanager',
    protocol: 'remote write, alerts, metrics',
    async check() {
      const said = succeed(process.execPath, [join(ROOT, 'scripts', 'test-rules.mjs')]);
      if (/, 1 skipped$/m.test(said)) throw new Unavailable(/SKIPPED: (.*)/.exec(said)?.[1] ?? said);
      if (!said.includes('1 passed')) throw new Error(said.slice(-600));
      const versions = ['prometheus', 'prometheus-alertmanager'].map(name =>
        debianVersion('prometheus', name),
      );
      return {
        version: versions.join(', '),
        did: 'steps of `npm run test:rules`, during a kill of the store',
      };
    },
  },
];

/** Standard output of a program. Throws with its output if it failed. */
function succeed(program, args) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  const said = error?.message ?? `${stderr}${stdout}`.slice(-600);
  throw new Error(`${args.slice(0, 2).join(' ')}: status ${status}: ${said}`);
}

/**
 * Uses the commands that talk to a store, and checks in which Node.js each of them ran: in that of the user, also if it is too old for a
 * store.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNewEnough } from '../../bin/needed-node.cjs';
import { check } from './ledger.mjs';
import { run } from './package.mjs';

const SELECTOR = '{app="commands"}';
const LINE = 'level=info msg="a line of the commands" took=12';
/** A zstd frame with LINE and its line end, which Node.js 20 cannot make. */
const ZSTD_LINE = Buffer.from(
  'KLUv/QRYgQEAbGV2ZWw9aW5mbyBtc2c9ImEgbGluZSBvZiB0aGUgY29tbWFuZHMiIHRvb2s9MTIKMw8xuw==',
  'base64',
);

/** Command lines, and what they print. */
const COMMANDS = [
  [['push', 'app.log', '--label', 'app=commands'], /^/],
  [['query', SELECTOR, '--since', '1h'], /a line of the commands/],
  [['query', SELECTOR, '--since', '1h', '--output', 'jsonl'], /a line of the commands/],
  [['instant', `sum(count_over_time(${SELECTOR}[1h]))`], /1/],
  [['labels', '--since', '1h'], /app/],
  [['labels', 'app', '--since', '1h'], /commands/],
  [['series', SELECTOR, '--since', '1h'], /commands/],
  [['stats', SELECTOR, '--since', '1h'], /1/],
  [['volume', SELECTOR, '--since', '1h'], /commands/],
  [['volume-range', SELECTOR, '--since', '1h'], /commands/],
  [['detected-fields', SELECTOR, '--since', '1h'], /took/],
  [['patterns', SELECTOR, '--since', '1h'], /^/],
  [['export', SELECTOR, '--since', '1h', '--format', 'jsonl'], /a line of the commands/],
  [['delete', 'list'], /^/],
  [['rules', 'list'], /^/],
  [['context', 'list'], /^/],
  [['completion', 'bash'], /complete/],
];

/** Command lines that need more than Node.js 20 has. */
const NEWER_COMMANDS = [
  [['push', 'ap*.log', '--label', 'app=commands'], /^/],
  [['export', SELECTOR, '--since', '1h', '--format', 'parquet', '--parts-dir', 'lake'], /^/],
];

/** @param version of the Node.js on the path */
export function useCommands(logboom, url, name, { cwd, env, version }) {
  const processes = isNewEnough(version) ? 1 : 2;
  const notes = join(cwd, 'node-versions');
  writeFileSync(join(cwd, 'note.cjs'), NOTE);
  writeFileSync(join(cwd, 'app.log'), `${LINE}\n`);
  writeFileSync(join(cwd, 'packed'), ZSTD_LINE);
  const noted = {
    ...env,
    NODE_OPTIONS: `--require ${join(cwd, 'note.cjs')}`,
    NODE_NOTES: notes,
    LOGBOOM_ADDR: url,
  };
  const use = (args, printed) => {
    rmSync(notes, { force: true });
    const { status, stdout, output } = run(logboom, args, { cwd, env: noted });
    const isGood = check(`${name}: logboom ${args.join(' ')}`, status === 0 && printed.test(stdout), output);
    return isGood ? readFileSync(notes, 'utf8').trimEnd().split('\n') : [];
  };
  const others = COMMANDS.filter(([args, printed]) => `${use(args, printed)}` !== version);
  check(`${name}: these commands run in ${version} alone`, others.length === 0, JSON.stringify(others));
  for (const [args, printed] of NEWER_COMMANDS) {
    const versions = use(args, printed);
    check(
      `${name}: it runs in a newer Node if ${version} is too old`,
      versions.length === processes,
      versions,
    );
  }
  use(['push', 'packed', '--label', 'app=packed'], /^/);
  const { stdout } = run(logboom, ['query', '{app="packed"}', '--since', '1h'], { cwd, env: noted });
  check(`${name}: push unpacks zstd`, stdout.includes('a line of the commands'), stdout);
}

const NOTE = `require('node:fs').appendFileSync(process.env.NODE_NOTES, process.version + '\\n');\n`;

/** `logboom delete create|list|cancel|watch`: manages delete requests of a tenant (docs/dev/deletion.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePrometheusDuration } from '../../shared/base/model/duration.ts';
import { MS_PER_HOUR, NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { asAction } from '../cli/command-error.ts';
import { cancelDelete, listDeletes, makeDelete, watchDelete } from '../cli/delete-client.ts';
import { deleteProgressText, listedTable, listedText } from '../cli/delete-text.ts';
import { addExamples } from '../cli/examples.ts';
import { parseTime } from '../cli/range-options.ts';
import { endWithReader, maxCellsOfOutput, print, printPainted, say, shown } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { tableText } from '../cli/table-text.ts';

interface CreateDeleteFlags extends StoreFlags {
  readonly from: bigint;
  readonly to?: bigint;
  readonly maxInterval?: string;
}

const OUTPUTS = ['default', 'jsonl', 'table', 'csv'] as const;

interface ListFlags extends StoreFlags {
  readonly output: (typeof OUTPUTS)[number];
}

interface CancelFlags extends StoreFlags {
  readonly force?: boolean;
}

interface WatchFlags extends StoreFlags {
  readonly interval: number;
}

const DEFAULT_INTERVAL_MS = 2000;
/** Minimum poll interval, so that watching does not load the store. */
const MIN_INTERVAL_MS = 100;
const MAX_INTERVAL_MS = MS_PER_HOUR;
const CLEAR = '\r\u001b[K';

const NOTES = `
A delete request hides its entries from queries immediately. The store deletes them after the request can no longer be canceled
(one day by default). The range includes both ends.

Times are RFC 3339, Unix seconds, Unix nanoseconds or "now", in whole milliseconds.

Examples:
  logboom delete create '{app="shop"} |= "user=4711"' --from 2026-01-01T00:00:00Z
  logboom delete list
  logboom delete watch 5a3c1b2d
  logboom delete cancel 5a3c1b2d`;

export function register(program: Command): void {
  const group = program
    .command('delete')
    .description('manage delete requests: create, list, cancel, watch')
    .addHelpText('after', NOTES);
  addExamples(
    addStoreOptions(
      group
        .command('create')
        .description('create a delete request and print its ID')
        .argument(
          '<query>',
          'log query that selects the entries, for example \'{app="shop"} |= "user=4711"\'',
        )
        .addOption(new Option('--from <time>', 'start').argParser(parseTime).makeOptionMandatory())
        .addOption(new Option('--to <time>', 'end (default: now)').argParser(parseTime))
        .addOption(
          new Option(
            '--max-interval <duration>',
            'interval for which progress is reported separately, for example 1h',
          ),
        ),
    ),
    `logboom delete create '{app="shop"} |= "user=4711"' --from 2026-01-01T00:00:00Z`,
    `logboom delete create '{app="shop"}' --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z`,
  ).action(asAction(create));
  addExamples(
    addStoreOptions(
      group
        .command('list')
        .description('list delete requests, oldest first, without canceled ones')
        .addOption(new Option('-o, --output <form>', 'output format').choices(OUTPUTS).default('default')),
    ),
    'logboom delete list',
    'logboom delete list --output jsonl --tenant shop',
  ).action(asAction(list));
  addExamples(
    addStoreOptions(
      group
        .command('cancel')
        .description('cancel a delete request; hidden entries become visible again')
        .argument('<id>', 'ID of the request')
        .addOption(
          new Option('--force', 'also cancel a request in progress; entries deleted so far stay deleted'),
        ),
    ),
    'logboom delete cancel 5a3c1b2d',
    'logboom delete cancel 5a3c1b2d --force',
  ).action(asAction(cancel));
  addExamples(
    addStoreOptions(
      group
        .command('watch')
        .description('show the progress of a request until it is processed')
        .argument('<id>', 'ID of the request')
        .addOption(
          new Option('--interval <duration>', 'poll interval, for example 500ms or 1m')
            .argParser(parseInterval)
            .default(DEFAULT_INTERVAL_MS, '2s'),
        ),
    ),
    'logboom delete watch 5a3c1b2d',
    'logboom delete watch 5a3c1b2d --interval 10s',
  ).action(asAction(watch));
}

async function create(query: string, { from, to, maxInterval, ...store }: CreateDeleteFlags): Promise<void> {
  const id = await makeDelete(store, { query, fromNs: from, toNs: to, maxInterval });
  await print(`${id}\n`);
  say(`entries are hidden from queries; to follow their deletion: logboom delete watch ${id}\n`);
}

async function list({ output, ...store }: ListFlags): Promise<void> {
  endWithReader();
  const requests = await listDeletes(store);
  if (output === 'table' || output === 'csv') {
    return print(tableText(listedTable(requests), output, { maxCells: maxCellsOfOutput(), shown }));
  }
  for (const request of requests) {
    await print(output === 'jsonl' ? `${JSON.stringify(request)}\n` : `${shown(listedText(request))}\n`);
  }
}

async function cancel(id: string, { force = false, ...store }: CancelFlags): Promise<void> {
  await cancelDelete(store, { id, force });
  await print(`${shown(id)}  canceled\n`);
}

async function watch(id: string, { interval, ...store }: WatchFlags): Promise<void> {
  endWithReader();
  const isTerminal = process.stdout.isTTY;
  let last: string | undefined;
  try {
    for await (const progress of watchDelete(store, id, () => sleep(interval))) {
      const text = deleteProgressText(progress);
      if (text === last) continue;
      last = text;
      // A terminal shows only the newest state, a file all of them.
      await printPainted(isTerminal ? `${CLEAR}${shown(text)}` : `${text}\n`);
    }
  } finally {
    if (isTerminal && last !== undefined) await print('\n');
  }
}

function parseInterval(text: string): number {
  let ms = 0;
  try {
    ms = Number(parsePrometheusDuration(text) / NS_PER_MS);
  } catch {
    // The error below lists the allowed values.
  }
  if (ms < MIN_INTERVAL_MS || ms > MAX_INTERVAL_MS) {
    throw new InvalidArgumentError('A duration from 100ms to 1h is written like 500ms, 2s or 1m.');
  }
  return ms;
}

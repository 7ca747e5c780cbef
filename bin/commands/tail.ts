/** `logboom tail QUERY`: prints entries as they are pushed, until it is stopped. */
import { type Command, Option } from 'commander';
import { parsePrometheusDuration } from '../../shared/base/model/duration.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { MAX_DELAY_SECONDS } from '../../shared/read/tail/bounds.ts';
import { OUTPUTS } from '../cli/answer-text.ts';
import { asAction } from '../cli/command-error.ts';
import { EntryPrinter } from '../cli/entry-printer.ts';
import { addLabelOptions, type LabelFlags, labelViewOf } from '../cli/label-options.ts';
import { parseDelay, parsePositive, parseSince } from '../cli/range-options.ts';
import type { MetricOutput } from '../cli/series-text.ts';
import {
  endWithReader,
  maxCellsOfOutput,
  OUTPUT_PAINT,
  printPainted,
  report,
} from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { followTail } from '../cli/tail-client.ts';
import { addTimeZoneOption } from '../cli/time-zone.ts';

interface TailFlags extends StoreFlags, LabelFlags {
  readonly since: bigint;
  readonly limit: number;
  readonly delayFor: number;
  readonly output: MetricOutput;
}

/** Default of the store. */
const DEFAULT_LIMIT = 100;

const NOTES = `
Prints the newest entries of the last hour (--since, --limit), oldest first, then new entries as they are pushed.
A broken connection is reopened. Missed entries are printed, and none is printed twice.

Output:
  default  time, labels, line
  raw      only lines
  jsonl    {"timestamp", "labels", "line"}, timestamps with nanoseconds
  table    columns: time, each label, line
  csv      timestamp, labels, line

Examples:
  logboom tail '{app="shop"} |= "error"'
  logboom tail '{app="shop"} | json | status >= 500' --since 5m --limit 20 --output raw
  logboom tail '{app=~".+"}' --delay-for 5       entries of many agents, in time order`;

export function register(program: Command): void {
  const command = program
    .command('tail')
    .description('follow entries as they are pushed')
    .argument('<query>', 'LogQL log query, for example \'{app="shop"} |= "error"\'')
    .addOption(
      new Option('--since <duration>', 'maximum age of earlier entries, for example 90s, 15m')
        .argParser(parseSince)
        .default(parsePrometheusDuration('1h'), '1h'),
    )
    .addOption(
      new Option('--limit <entries>', 'maximum number of earlier entries')
        .argParser(parsePositive)
        .default(DEFAULT_LIMIT),
    )
    .addOption(
      new Option('--delay-for <seconds>', `delay entries by this time (maximum ${MAX_DELAY_SECONDS})`)
        .argParser(parseDelay)
        .default(0),
    )
    .addOption(new Option('-o, --output <form>', 'output format').choices(OUTPUTS).default('default'));
  addTimeZoneOption(addStoreOptions(addLabelOptions(command)))
    .addHelpText('after', NOTES)
    .action(asAction(tail));
}

/** Follows a query; also used by `logboom query --tail`. */
export async function tail(query: string, flags: TailFlags): Promise<void> {
  endWithReader();
  const startNs = SYSTEM_CLOCK.nowNs() - flags.since;
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const printer = new EntryPrinter({
    output: flags.output === 'chart' ? 'default' : flags.output,
    paint: OUTPUT_PAINT,
    maxCells: maxCellsOfOutput(),
    labels: labelViewOf(flags),
  });
  await followTail(
    flags,
    { query, startNs, limit: flags.limit, delaySeconds: flags.delayFor },
    {
      entries: async entries => {
        await printPainted(printer.text(entries));
      },
      note: text => report(`logboom: ${text}\n`),
    },
    { clock: SYSTEM_CLOCK, signal: stopping.signal },
  );
}

/** `logboom instant QUERY`: prints the values of a metric query at one time. */
import { type Command, Option } from 'commander';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { asAction } from '../cli/command-error.ts';
import { checkTime, parsePositive, parseTime, TIME_NOTE } from '../cli/range-options.ts';
import { METRIC_OUTPUTS } from '../cli/series-text.ts';
import { endWithReader } from '../cli/standard-output.ts';
import { addStoreOptions } from '../cli/store-client.ts';
import { addTimeZoneOption } from '../cli/time-zone.ts';
import { DEFAULT_LIMIT, fetchAndPrintInstant, type InstantFlags } from './query.ts';

interface Flags extends InstantFlags {
  readonly at?: string;
}

const NOTES = `
Output:
  default  labels, value
  raw      only values
  jsonl    {"timestamp", "labels", "value"}, the value as text
  table    columns: timestamp, each label, value
  csv      same columns as table
  chart    bars, largest first

${TIME_NOTE}

Examples:
  logboom instant 'sum(count_over_time({app="shop"}[1h]))' --output raw
  logboom instant 'topk(10, sum by (path) (count_over_time({app="shop"} | json [1h])))' --output chart
  logboom instant 'sum by (level) (rate({app="shop"}[5m]))' --at 2026-01-05T10:00:00Z`;

export function register(program: Command): void {
  const command = program
    .command('instant')
    .alias('instant-query')
    .description('run a metric query at one time')
    .argument('<query>', 'LogQL, for example \'sum(rate({app="shop"}[5m]))\'')
    .addOption(new Option('--at <time>', 'evaluation time (default: now)').argParser(checkTime))
    .addOption(new Option('--now <time>', "logcli's name for --at").argParser(checkTime).hideHelp())
    .addOption(
      new Option('--limit <count>', 'maximum number of series')
        .argParser(parsePositive)
        .default(DEFAULT_LIMIT),
    )
    .addOption(new Option('-o, --output <form>', 'output format').choices(METRIC_OUTPUTS).default('default'))
    .addOption(new Option('--fail-on-empty', 'exit with code 4 if nothing is found'))
    .addOption(new Option('--stats', 'print query statistics to stderr'))
    .addOption(new Option('--explain', 'print data considered, pruned, and read to stderr'));
  command.on('option:now', (time: string) => command.setOptionValue('at', time));
  addTimeZoneOption(addStoreOptions(command)).addHelpText('after', NOTES).action(asAction(instant));
}

async function instant(text: string, flags: Flags): Promise<void> {
  endWithReader();
  await fetchAndPrintInstant(
    text,
    flags,
    flags.at === undefined ? SYSTEM_CLOCK.nowNs() : parseTime(flags.at),
  );
}

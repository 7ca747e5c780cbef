/** `logboom query QUERY`: runs a query and prints entries or samples, or draws the samples. */
import { type Command, Option } from 'commander';
import { asAction, EXIT_NOTHING_FOUND, UsageError } from '../cli/command-error.ts';
import { groupedText } from '../cli/count-text.ts';
import { EntryPrinter } from '../cli/entry-printer.ts';
import { ExplanationText } from '../cli/explain-text.ts';
import { addLabelOptions, type LabelFlags, labelViewOf } from '../cli/label-options.ts';
import { logPages } from '../cli/log-pages.ts';
import { addLogcliQueryOptions } from '../cli/logcli-options.ts';
import { needNewerNode } from '../cli/newer-node.ts';
import {
  addRangeOptions,
  parseCount,
  parseDelay,
  parsePositive,
  parseSince,
  type RangeFlags,
  rangeOfFlags,
  TIME_NOTE,
} from '../cli/range-options.ts';
import { type Direction, fetchInstant, fetchRange, type RangeAnswer } from '../cli/range-query.ts';
import { METRIC_OUTPUTS, type MetricOutput, metricText } from '../cli/series-text.ts';
import {
  endWithReader,
  hasColors,
  maxCellsOfOutput,
  OUTPUT_PAINT,
  printPainted,
  report,
  say,
  screenSize,
} from '../cli/standard-output.ts';
import { StatisticsSum } from '../cli/statistics-text.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { TIMESTAMP_FORMATS, timeTextOf } from '../cli/timestamp-formats.ts';
import { startWaiting } from '../cli/waiting-line.ts';

interface QueryFlags extends StoreFlags, RangeFlags, LabelFlags {
  readonly limit: number;
  readonly batch: number;
  readonly direction: Direction;
  readonly step?: string;
  readonly interval?: string;
  readonly forward?: boolean;
  readonly stats?: boolean;
  readonly stdin?: boolean;
  readonly tail?: boolean;
  readonly delayFor: number;
  readonly output: MetricOutput;
  readonly explain?: boolean;
  readonly instant?: boolean;
  readonly failOnEmpty?: boolean;
  readonly outputTimestampFormat?: string;
}

/** Default of the store. */
export const DEFAULT_LIMIT = 100;
/** Entries per request. Stores refuse over 5,000, and requests overlap. */
const DEFAULT_BATCH = 1000;

const NOTES = `
Output of a log query, newest entry first unless --direction forward:
  default  time, labels, line; common labels are printed once, to stderr
  raw      only lines
  jsonl    {"timestamp", "labels", "line"}, timestamps with nanoseconds
  table    columns: time, each label, line; cut at the edge of a terminal
  csv      timestamp, labels, line
Output of a metric query, series by series:
  default  a chart on a terminal; else time, labels, value
  raw      only values
  jsonl    {"timestamp", "labels", "value"}, the value as text
  table    a column for each series
  csv      timestamp, each label, value
  chart    lines with axes, as wide as the terminal (or COLUMNS)

${TIME_NOTE} Entries at --from are included, entries at --to are not.

Examples:
  logboom query '{app="shop"} |= "error"' --since 15m
  logboom query 'sum by (level) (count_over_time({app="shop"}[5m]))' --step 5m
  logboom query 'sum by (level) (rate({app="shop"}[1m]))' --since 3h --output chart
  logboom query 'topk(5, sum by (path) (count_over_time({app="shop"} | json [1h])))' --instant
  logboom query '{app="shop"}' --from now-2h --to now-1h --include-label pod --quiet
  cat app.log | logboom query --stdin '| json | status >= 500'
  logboom query '{app="shop"}' --from 2026-01-05T10:00:00Z --to 2026-01-05T11:00:00Z --limit 0 --output raw`;

export function register(program: Command): void {
  const command = program
    .command('query')
    .description('run a LogQL query')
    .argument('<query>', 'LogQL, for example \'{app="shop"} |= "error"\'');
  addRangeOptions(command)
    .addOption(
      new Option('--limit <entries>', 'maximum number of entries (0 = unlimited)')
        .argParser(parseCount)
        .default(DEFAULT_LIMIT),
    )
    .addOption(
      new Option('--batch <entries>', 'entries per request, below 5000, because requests overlap')
        .argParser(parsePositive)
        .default(DEFAULT_BATCH),
    )
    .addOption(
      new Option('--direction <order>', 'order of the entries')
        .choices(['forward', 'backward'])
        .default('backward'),
    )
    .addOption(new Option('--forward', 'same as --direction forward').implies({ direction: 'forward' }))
    .addOption(
      new Option('--step <duration>', 'interval between samples of a metric query').argParser(checkStep),
    )
    .addOption(
      new Option(
        '--interval <duration>',
        'minimum interval between entries of a stream; omits the others',
      ).argParser(checkStep),
    )
    .addOption(
      new Option(
        '--stdin',
        'query the lines of standard input, without a store; the stream selector is optional',
      ).conflicts(['from', 'to', 'step', 'batch', 'direction', 'explain']),
    )
    .addOption(new Option('-t, --tail', 'continue with new entries, like logboom tail'))
    .addOption(new Option('-f, --follow', 'same as --tail').hideHelp().implies({ tail: true }))
    .addOption(
      new Option('--delay-for <seconds>', 'with --tail, delay entries by this time')
        .argParser(parseDelay)
        .default(0),
    )
    .addOption(new Option('--stats', 'print query statistics to stderr'))
    .addOption(new Option('--instant', 'evaluate a metric query only at --to').conflicts(['step', 'batch']))
    .addOption(new Option('-o, --output <form>', 'output format').choices(METRIC_OUTPUTS).default('default'))
    .addOption(
      new Option(
        '--output-timestamp-format <format>',
        'timestamps of the default output (default: RFC 3339 with milliseconds)',
      ).choices(TIMESTAMP_FORMATS),
    )
    .addOption(new Option('--fail-on-empty', 'exit with code 4 if nothing is found'))
    .addOption(new Option('--explain', 'print data considered, pruned, and read to stderr'));
  addLogcliQueryOptions(command);
  addStoreOptions(addLabelOptions(command))
    .addHelpText('after', NOTES)
    .action(asAction((text: string, flags: QueryFlags) => query(text, flags, isGiven(command, 'limit'))));
}

function isGiven(command: Command, option: string): boolean {
  return command.getOptionValueSource(option) === 'cli';
}

/** Validates the text; the store parses it again. */
function checkStep(text: string): string {
  if (!/^\d+(\.\d+)?$/.test(text)) parseSince(text);
  return text;
}

async function query(text: string, flags: QueryFlags, hasLimit: boolean): Promise<void> {
  endWithReader();
  if (flags.tail) return (await import('./tail.ts')).tail(text, flags);
  if (flags.stdin) {
    await needNewerNode();
    // Input from a file is read completely unless --limit is set.
    const limit = hasLimit && flags.limit > 0 ? flags.limit : Infinity;
    const { stdinPages } = await import('../commands/stdin-query.ts');
    return printPages(stdinPages(process.stdin, { query: text, limit }), flags);
  }
  const range = rangeOfFlags(flags);
  const { explain } = flags;
  const limit = flags.limit === 0 ? Infinity : flags.limit;
  const pages = flags.instant
    ? instantPages(text, flags, range.endNs)
    : logPages(request => fetchRange(flags, { ...request, explain }), {
        query: text,
        ...range,
        limit,
        batch: flags.batch,
        direction: flags.direction,
        step: flags.step,
        interval: flags.interval,
      });
  await printPages(pages, flags);
}

async function* instantPages(
  text: string,
  flags: QueryFlags | InstantFlags,
  timeNs: bigint,
): AsyncGenerator<RangeAnswer> {
  const { limit, explain } = flags;
  yield await fetchInstant(flags, {
    query: text,
    timeNs,
    limit: limit === 0 ? DEFAULT_LIMIT : limit,
    explain,
  });
}

export interface InstantFlags extends StoreFlags {
  readonly limit: number;
  readonly output: MetricOutput;
  readonly explain?: boolean;
  readonly stats?: boolean;
  readonly failOnEmpty?: boolean;
}

/** Runs an instant query for `logboom instant`, which has fewer options. */
export function fetchAndPrintInstant(text: string, flags: InstantFlags, timeNs: bigint): Promise<void> {
  return printPages(instantPages(text, flags, timeNs), flags);
}

async function printPages(
  pages: AsyncIterable<RangeAnswer>,
  flags: InstantFlags | QueryFlags,
): Promise<void> {
  const { output, explain, failOnEmpty, stats } = flags;
  const waiting = startWaiting(process.stderr);
  const explanation = new ExplanationText();
  const printer = new EntryPrinter({
    output: output === 'chart' ? 'default' : output,
    paint: OUTPUT_PAINT,
    maxCells: maxCellsOfOutput(),
    labels: 'labelsLength' in flags ? labelViewOf(flags) : undefined,
    timeText: timeTextOf('outputTimestampFormat' in flags ? flags.outputTimestampFormat : undefined),
  });
  const statistics = new StatisticsSum();
  let found = 0;
  try {
    for await (const page of pages) {
      waiting.clear();
      for (const warning of page.warnings) say(`logboom: warning from the store: ${warning}\n`);
      explanation.add(page.explain);
      statistics.add(page.stats);
      if (page.kind !== 'streams') {
        found += page.series.length;
        await printPainted(textOfSeries(page, output));
        continue;
      }
      if (output === 'chart')
        throw new UsageError('--output chart needs a metric query; this is a log query');
      const shared = printer.shareLabels(page.entries);
      if (shared !== undefined) report(`Common labels: ${shared}\n`);
      found += page.entries.length;
      await printPainted(printer.text(page.entries));
      waiting.say(`${groupedText(found)} entries`);
    }
  } finally {
    waiting.stop();
  }
  if (explain) say(explanation.text);
  if (stats) say(statistics.text);
  if (found === 0 && failOnEmpty) process.exitCode = EXIT_NOTHING_FOUND;
}

function textOfSeries(
  { kind, series }: RangeAnswer & { kind: 'matrix' | 'vector' },
  output: MetricOutput,
): string {
  const instant = kind === 'vector';
  // A single sample is easier to read as a line.
  const drawn = !instant && process.stdout.isTTY && series.some(({ samples }) => samples.length > 1);
  return metricText(series, {
    output: output === 'default' && drawn ? 'chart' : output,
    screen: screenSize(),
    colors: hasColors(),
    paint: OUTPUT_PAINT,
    maxCells: maxCellsOfOutput(),
    instant,
  });
}

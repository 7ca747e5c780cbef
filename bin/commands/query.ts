/** `logboom query QUERY`: asks the store and prints entries or samples, a line each. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../local/system-clock.ts';
import { parsePrometheusDuration } from '../../shared/model/duration.ts';
import { messageOf } from '../../shared/model/errors.ts';
import { commonLabels, entryText, labelText, OUTPUTS, type Output, seriesText } from '../cli/answer-text.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { Explanation } from '../cli/explain-text.ts';
import { logPages } from '../cli/log-pages.ts';
import { askRange, type Direction, type RangeAnswer } from '../cli/range-query.ts';
import { endWithReader, OUTPUT_PAINT, print } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { parseInstant, rangeOf } from '../cli/time-text.ts';

export interface QueryFlags extends StoreFlags {
  readonly since: bigint;
  readonly from?: bigint;
  readonly to?: bigint;
  readonly limit: number;
  readonly batch: number;
  readonly direction: Direction;
  readonly step?: string;
  readonly output: Output;
  readonly explain?: boolean;
}

/** The store's own default. */
const DEFAULT_LIMIT = 100;
/** Entries of one request: stores refuse over 5000, and requests overlap. */
const DEFAULT_BATCH = 1000;
const MAX_COUNT = 2 ** 31 - 1;

const NOTES = `
Output of a log query, newest entry first unless --direction forward:
  default  time, labels, line; labels that all entries share are printed once, on standard error
  raw      lines alone
  jsonl    {"timestamp", "labels", "line"}, timestamps with nanoseconds
Output of a metric query, series by series:
  default  time, labels, value
  raw      values alone
  jsonl    {"timestamp", "labels", "value"}, the value as text

Times are RFC 3339, Unix seconds, Unix nanoseconds or "now"; entries at --from are included, entries at --to are not.

Examples:
  logboom query '{app="shop"} |= "error"' --since 15m
  logboom query 'sum by (level) (count_over_time({app="shop"}[5m]))' --step 5m
  logboom query '{app="shop"}' --from 2026-01-05T10:00:00Z --to 2026-01-05T11:00:00Z --limit 0 --output raw`;

export function register(program: Command): void {
  const command = program
    .command('query')
    .description('ask the store in LogQL')
    .argument('<query>', 'LogQL, for example \'{app="shop"} |= "error"\'')
    .addOption(
      new Option('--since <duration>', 'look back from --to, for example 90s, 15m, 1h30m, 7d')
        .argParser(parseSince)
        .default(parsePrometheusDuration('1h'), '1h')
        .conflicts('from'),
    )
    .addOption(new Option('--from <time>', 'start').argParser(parseTime))
    .addOption(new Option('--to <time>', 'end (default: now)').argParser(parseTime))
    .addOption(
      new Option('--limit <entries>', 'most entries to print, 0 for all')
        .argParser(parseCount)
        .default(DEFAULT_LIMIT),
    )
    .addOption(
      new Option('--batch <entries>', 'entries of one request').argParser(parseBatch).default(DEFAULT_BATCH),
    )
    .addOption(
      new Option('--direction <order>', 'order of the entries')
        .choices(['forward', 'backward'])
        .default('backward'),
    )
    .addOption(new Option('--step <duration>', 'distance of the samples of a metric query'))
    .addOption(new Option('--output <form>', 'what to print').choices(OUTPUTS).default('default'))
    .addOption(
      new Option('--explain', 'print on standard error what the store looked at, passed over and read'),
    );
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(query));
}

async function query(text: string, flags: QueryFlags): Promise<void> {
  endWithReader();
  const range = rangeOf({ sinceNs: flags.since, from: flags.from, to: flags.to }, systemClock.nowNs());
  if (range.endNs < range.startNs) throw new CommandError('the end of the range is before its start');
  const { explain } = flags;
  const pages = logPages(request => askRange(flags, { ...request, explain }), {
    query: text,
    ...range,
    limit: flags.limit === 0 ? Infinity : flags.limit,
    batch: flags.batch,
    direction: flags.direction,
    step: flags.step,
  });
  const explanation = new Explanation();
  let common: Readonly<Record<string, string>> | undefined;
  for await (const page of pages) {
    for (const warning of page.warnings) process.stderr.write(`logboom: the store warns: ${warning}\n`);
    if (common === undefined && page.kind === 'streams' && flags.output === 'default') {
      common = commonLabels(labelSetsOf(page));
      if (Object.keys(common).length > 0) process.stderr.write(`Common labels: ${labelText(common)}\n`);
    }
    await printPage(page, flags.output, common);
    explanation.add(page.explain);
  }
  if (explain) process.stderr.write(explanation.text);
}

function* labelSetsOf(page: RangeAnswer & { kind: 'streams' }) {
  for (const { labels } of page.entries) yield labels;
}

async function printPage(
  page: RangeAnswer,
  output: Output,
  common: Readonly<Record<string, string>> | undefined,
): Promise<void> {
  if (page.kind === 'matrix') {
    for (const series of page.series) await print(seriesText(series, output, OUTPUT_PAINT));
    return;
  }
  let text = '';
  for (const entry of page.entries) text += entryText(entry, output, { common, paint: OUTPUT_PAINT });
  await print(text);
}

function parseSince(text: string): bigint {
  return checked(() => parsePrometheusDuration(text), 'A duration is written like 90s, 15m, 1h30m or 7d');
}

function parseTime(text: string): bigint {
  return checked(
    () => parseInstant(text, systemClock.nowNs()),
    'A time is written like 2026-01-05T10:00:00Z, in Unix seconds or nanoseconds, or "now"',
  );
}

function checked<T>(parse: () => T, help: string): T {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(`${help} (${messageOf(error)}).`);
  }
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MAX_COUNT)
    throw new InvalidArgumentError('A whole number from 0 is needed.');
  return count;
}

function parseBatch(text: string): number {
  const count = parseCount(text);
  if (count === 0) throw new InvalidArgumentError('A whole number from 1 is needed.');
  return count;
}

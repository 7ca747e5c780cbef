/** `logboom cost`: estimates the monthly cost on AWS for your figures (docs/dev/cost-model.md). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readLocalConfigText } from '../../local/default-config.ts';
import { parseByteSize } from '../../shared/base/model/byte-size.ts';
import { parsePrometheusDuration } from '../../shared/base/model/duration.ts';
import { NS_PER_SECOND, SECONDS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { asAction } from '../cli/command-error.ts';
import { type CostLine, estimateCost, type Load, QUERY_OF_HOUR } from '../cli/cost-estimate.ts';
import { endWithReader, print } from '../cli/standard-output.ts';
import { addConfigFlag } from '../cli/storage-flags.ts';
import { TABLE_OUTPUTS, type TableOutput, type TextTable, tableText } from '../cli/table-text.ts';

interface CostFlags {
  readonly config: string;
  readonly gbPerDay: number;
  readonly pushSize: number;
  readonly retention: number;
  readonly storedShare: number;
  readonly queriesPerDay: number;
  readonly querySeconds: number;
  readonly queryGets: number;
  readonly queryRecords: number;
  readonly output: TableOutput;
}

const GB = 1_000_000_000;
/** Stored bytes per byte after merging, measured on JSON service logs (docs/dev/decisions/0009-templates-and-columns.md). */
const DEFAULT_STORED_SHARE = 0.16;
const DEFAULT_PUSH_BYTES = 1_000_000;
/** Records of a query over one day: 7 read units. */
const DEFAULT_QUERY_RECORDS = 28;

const NOTES = `
Uses list prices in US East (US dollars, without free tiers, from November 2026). To set your own, use logboom.prices in the
configuration (--config). Storage is that of a store as old as its retention period. Not included: live tails, rules, data
transfer, and logs of the functions. For the derivation, see docs/dev/cost-model.md.

Examples:
  logboom cost --gb-per-day 50 --retention 30d
  logboom cost --gb-per-day 50 --push-size 4KB            the same in small pushes
  logboom cost --gb-per-day 2 --queries-per-day 200000 --query-seconds 0.2 --output csv`;

export function register(program: Command): void {
  const command = program
    .command('cost')
    .description('estimate the monthly cost on AWS')
    .addOption(
      new Option('--gb-per-day <gb>', 'GB of lines pushed per day').argParser(parseAmount).default(10),
    )
    .addOption(
      new Option('--push-size <size>', 'size of a push, for example 4KB')
        .argParser(parseSize)
        .default(DEFAULT_PUSH_BYTES, '1MB'),
    )
    .addOption(
      new Option('--retention <duration>', 'retention period').argParser(parseDays).default(30, '30d'),
    )
    .addOption(
      new Option('--stored-share <part>', 'stored bytes per byte of lines')
        .argParser(parseAmount)
        .default(DEFAULT_STORED_SHARE),
    )
    .addOption(
      new Option('--queries-per-day <count>', 'queries per day').argParser(parseAmount).default(10_000),
    )
    .addOption(
      new Option('--query-seconds <seconds>', 'function time per query, seconds')
        .argParser(parseAmount)
        .default(QUERY_OF_HOUR.seconds),
    )
    .addOption(
      new Option('--query-gets <count>', 'object reads per query')
        .argParser(parseAmount)
        .default(QUERY_OF_HOUR.gets),
    )
    .addOption(
      new Option('--query-records <count>', 'chunk records read per query')
        .argParser(parseAmount)
        .default(DEFAULT_QUERY_RECORDS),
    )
    .addOption(new Option('-o, --output <form>', 'output format').choices(TABLE_OUTPUTS).default('default'));
  addConfigFlag(command).addHelpText('after', NOTES).action(asAction(cost));
}

async function cost(flags: CostFlags): Promise<void> {
  endWithReader();
  const text = readLocalConfigText(flags.config);
  const { config } = parseConfig(text, { name: flags.config, environment: process.env });
  const { prices, currency } = config.logboom;
  const load: Load = {
    bytesPerDay: flags.gbPerDay * GB,
    pushBytes: flags.pushSize,
    retentionDays: flags.retention,
    storedShare: flags.storedShare,
    queriesPerDay: flags.queriesPerDay,
    querySeconds: flags.querySeconds,
    queryGets: flags.queryGets,
    queryRecords: flags.queryRecords,
  };
  await print(tableText(tableOf(estimateCost(load, prices), currency), flags.output));
}

function tableOf(lines: readonly CostLine[], currency: string): TextTable {
  const show = (value: unknown) => Number(value).toFixed(2);
  const column = (name: string) => ({ name: `${currency} ${name}`, align: 'right' as const, show });
  return {
    columns: [{ name: 'what' }, column('per day'), column('per month'), column('per year')],
    rows: lines.map(({ what, perDay, perMonth }) => [
      what,
      ...[perDay, perMonth, perMonth * 12].map(value => Number(value.toPrecision(6))),
    ]),
  };
}

function parseAmount(text: string): number {
  const amount = Number(text);
  if (text.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError('Expected a number from 0.');
  return amount;
}

function parseSize(text: string): number {
  try {
    const bytes = parseByteSize(text);
    if (bytes > 0) return bytes;
  } catch {
    // The error below reports it.
  }
  throw new InvalidArgumentError('A size is written like 4KB, 500000 or 1MiB.');
}

function parseDays(text: string): number {
  try {
    return Number(parsePrometheusDuration(text) / NS_PER_SECOND) / SECONDS_PER_DAY;
  } catch {
    throw new InvalidArgumentError('A duration is written like 7d, 30d or 1y.');
  }
}

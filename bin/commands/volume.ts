/**
 * `logboom volume SELECTOR` and `volume-range`: print the bytes per group of streams, from the index only.
 */
import { type Command, Option } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { parsePositive, rangeOfFlags } from '../cli/range-options.ts';
import { METRIC_OUTPUTS, type MetricOutput, metricText } from '../cli/series-text.ts';
import {
  hasColors,
  maxCellsOfOutput,
  OUTPUT_PAINT,
  print,
  printPainted,
  screenSize,
  shown,
} from '../cli/standard-output.ts';
import { fetchVolume, volumeTable } from '../cli/store-listings.ts';
import { addTableOptions, endEmpty, type TableFlags, waitFor } from '../cli/table-command.ts';
import { tableText } from '../cli/table-text.ts';

interface Flags extends Omit<TableFlags, 'output'> {
  readonly output: MetricOutput;
  readonly limit?: number;
  readonly targetLabels?: string;
  readonly aggregateBy?: string;
  readonly step?: string;
}

const NOTES = `
Examples:
  logboom volume '{app=~".+"}'                                 bytes of each value of app
  logboom volume '{}' --target-labels app,level --output csv
  logboom volume '{}' --aggregate-by labels                    bytes of the streams that have a label
  logboom volume '{app=~".+"}' --output chart                  bars`;

const RANGE_NOTES = `
Examples:
  logboom volume-range '{app=~".+"}' --since 24h --step 1h
  logboom volume-range '{app="shop"}' --target-labels level --step 5m --output chart`;

export function register(program: Command): void {
  define(program, false);
}

export function define(program: Command, ofRange: boolean): void {
  const command = program.command(ofRange ? 'volume-range' : 'volume');
  if (ofRange) command.alias('volume_range');
  command
    .description(ofRange ? 'show bytes of streams over time' : 'list bytes of streams, largest first')
    .argument('<selector>', "stream selector, for example '{app=~\".+\"}', or '{}' for all")
    .addOption(new Option('--limit <groups>', 'maximum number of groups').argParser(parsePositive))
    .addOption(new Option('--target-labels <names>', 'comma-separated labels to group by'))
    .addOption(
      new Option('--aggregate-by <what>', 'group by label values or by label names').choices([
        'series',
        'labels',
      ]),
    )
    .addOption(new Option('--targetLabels <names>', "logcli's name for --target-labels").hideHelp())
    .addOption(new Option('--aggregateByLabels', "logcli's name for --aggregate-by labels").hideHelp());
  command.on('option:aggregateByLabels', () => command.setOptionValue('aggregateBy', 'labels'));
  if (ofRange) command.addOption(new Option('--step <duration>', 'interval between samples'));
  addTableOptions(command, { outputs: METRIC_OUTPUTS })
    .addHelpText('after', ofRange ? RANGE_NOTES : NOTES)
    .action(asAction((query: string, flags: Flags) => volume(query, flags, ofRange)));
}

async function volume(query: string, flags: Flags, ofRange: boolean): Promise<void> {
  const { limit, targetLabels, aggregateBy, step, output, failOnEmpty } = flags;
  const question = { range: rangeOfFlags(flags), query, limit, targetLabels, aggregateBy, step };
  const series = await waitFor(fetchVolume(flags, question, ofRange));
  if (series.length === 0) return endEmpty(failOnEmpty);
  const maxCells = maxCellsOfOutput();
  if (!ofRange && output !== 'chart') {
    // Raw output has the sizes, not the first label.
    const text =
      output === 'raw'
        ? metricText(series, { output, screen: screenSize(), colors: false, instant: true })
        : tableText(volumeTable(series, aggregateBy === 'labels'), output, { maxCells, shown });
    return print(text);
  }
  const isDrawn = output === 'default' && process.stdout.isTTY;
  await printPainted(
    metricText(series, {
      output: isDrawn ? 'chart' : output,
      screen: screenSize(),
      colors: hasColors(),
      paint: OUTPUT_PAINT,
      maxCells,
      instant: !ofRange,
    }),
  );
}

/** Options of `query` and `tail` that select the labels to print. */
import { type Command, Option } from 'commander';
import type { LabelView } from './entry-printer.ts';
import { parseCount } from './range-options.ts';

export interface LabelFlags {
  readonly labels: boolean;
  readonly includeLabel: readonly string[];
  readonly excludeLabel: readonly string[];
  readonly includeCommonLabels?: boolean;
  readonly labelsLength: number;
}

export function addLabelOptions(command: Command): Command {
  const collect = (text: string, before: readonly string[]) => [...before, ...text.split(',')];
  return command
    .addOption(new Option('--no-labels', 'print entries without labels'))
    .addOption(
      new Option('--include-label <name>', 'print only this label; repeatable')
        .argParser(collect)
        .default([], 'all'),
    )
    .addOption(
      new Option('--exclude-label <name>', 'do not print this label; repeatable')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      new Option('--include-common-labels', 'print the labels that all entries share with each entry'),
    )
    .addOption(
      new Option('--labels-length <cells>', 'minimum width of the labels in default output')
        .argParser(parseCount)
        .default(0),
    );
}

export function labelViewOf(flags: LabelFlags): LabelView {
  return {
    none: !flags.labels,
    include: flags.includeLabel,
    exclude: flags.excludeLabel,
    keepCommon: flags.includeCommonLabels,
    width: flags.labelsLength,
  };
}

/** `logboom series SELECTOR...`: lists streams by their labels, or analyzes the labels. */
import { type Command, Option } from 'commander';
import type { LabelObject } from '../cli/answer-text.ts';
import { labelText } from '../cli/answer-text.ts';
import { asAction } from '../cli/command-error.ts';
import { rangeOfFlags } from '../cli/range-options.ts';
import { fetchSeries } from '../cli/store-listings.ts';
import { addTableOptions, printTable, type TableFlags } from '../cli/table-command.ts';
import type { TableOutput, TextTable } from '../cli/table-text.ts';

interface Flags extends TableFlags {
  readonly analyzeLabels?: boolean;
  readonly match: readonly string[];
}

const NOTES = `
Output:
  default, raw   labels of a stream, one stream per line
  table, csv     a column for each label
  jsonl          an object of the labels

Examples:
  logboom series '{app="shop"}'
  logboom series '{app="shop"}' '{app="cart"}' --since 24h --output table
  logboom series --analyze-labels               numbers of values and streams per label`;

export function register(program: Command): void {
  const command = program
    .command('series')
    .description('list streams by their labels')
    .argument('[selectors...]', 'stream selectors; a stream must match at least one (default: all streams)')
    .addOption(
      new Option('--match <selector>', 'stream selector, as in logcli; repeatable')
        .argParser((text: string, before: readonly string[]) => [...before, text])
        .default([])
        .hideHelp(),
    )
    .addOption(
      new Option('--analyze-labels', 'list labels with their numbers of values and streams instead'),
    );
  addTableOptions(command).addHelpText('after', NOTES).action(asAction(series));
}

async function series(selectors: readonly string[], flags: Flags): Promise<void> {
  const found = fetchSeries(flags, { range: rangeOfFlags(flags) }, [...selectors, ...flags.match]);
  const asTable = async () => {
    const streams = await found;
    return flags.analyzeLabels ? analysis(streams) : tableOf(streams, flags.output);
  };
  await printTable(asTable(), flags);
}

function tableOf(streams: readonly LabelObject[], output: TableOutput): TextTable {
  const texts = streams.map(labels => ({ labels, text: labelText(labels) }));
  texts.sort((a, b) => (a.text < b.text ? -1 : 1));
  if (output === 'default' || output === 'raw') {
    return { columns: [{ name: 'stream' }], rows: texts.map(({ text }) => [text]) };
  }
  const names = [...new Set(streams.flatMap(labels => Object.keys(labels)))].sort();
  return {
    columns: names.map(name => ({ name })),
    rows: texts.map(({ labels }) => names.map(name => labels[name] ?? null)),
  };
}

/** Labels with most values first, because they multiply streams. */
function analysis(streams: readonly LabelObject[]): TextTable {
  const values = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  for (const labels of streams) {
    for (const [name, value] of Object.entries(labels)) {
      if (!values.has(name)) values.set(name, new Set());
      values.get(name)!.add(value);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return {
    columns: [{ name: 'label' }, { name: 'values', align: 'right' }, { name: 'streams', align: 'right' }],
    rows: [...values]
      .map(([name, found]): [string, number, number] => [name, found.size, counts.get(name)!])
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)),
  };
}

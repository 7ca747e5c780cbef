/** Options of `logboom push` that control how entries are read. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../command-error.ts';
import type { TimeFallback } from './entry-times.ts';
import { MAX_CSV_COLUMNS } from './formats/csv.ts';
import { FORMAT_NAMES, type FormatName } from './formats.ts';
import type { FieldChoice, ImportPlan } from './import-plan.ts';
import { type Multiline, parseMultiline } from './line-joiner.ts';
import { checkTimeFormat } from './time-reader.ts';

export interface ImportFlags {
  readonly format: FormatName | 'auto';
  readonly timeField?: string;
  readonly timeFormat?: string;
  readonly timeFallback?: TimeFallback;
  readonly labelField: readonly FieldChoice[];
  readonly metadataField: readonly FieldChoice[];
  readonly multiline?: Multiline | true;
  readonly csvColumns?: readonly string[];
  readonly dryRun?: boolean;
}

const HEADING = 'Formats and times:';
const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Maximum number of fields to select. Stores accept 15 labels and 128 metadata pairs by default. */
const MAX_FIELD_CHOICES = 128;

export function addImportOptions(command: Command): Command {
  const options = [
    new Option('--format <name>', 'format of the lines')
      .choices(['auto', ...FORMAT_NAMES])
      .default('auto', 'auto: detected from the first lines, else plain'),
    new Option(
      '--time-field <name>',
      'field that contains the time (default: time, timestamp, ts, @timestamp, ...)',
    ),
    new Option(
      '--time-format <format>',
      'time format: a pattern such as "%d.%m.%Y %H:%M:%S", or unix_ms',
    ).argParser(checkTimeFormat),
    new Option(
      '--time-fallback <rule>',
      'time of an entry that has none (default: previous; now for plain)',
    ).choices(['previous', 'file', 'now', 'skip']),
    new Option('--label-field <[label=]field>', 'field whose value becomes a label; repeatable')
      .argParser(addChoice)
      .default([], 'none'),
    new Option('--metadata-field <[name=]field>', 'field whose value becomes structured metadata; repeatable')
      .argParser(addChoice)
      .default([], 'none'),
    new Option(
      '--multiline [how]',
      'lines to join into an entry: off, stack (stack traces), time (lines without a time), or a pattern of first lines',
    ).argParser(parseMultiline),
    new Option(
      '--csv-columns <names>',
      'comma-separated names of CSV columns, for input without a header line',
    ).argParser(parseColumns),
    new Option('--dry-run', 'print the first ten entries as they would be stored, without pushing'),
  ];
  for (const option of options) command.addOption(option.helpGroup(HEADING));
  return command;
}

export function importPlanOf(flags: ImportFlags): ImportPlan {
  const { multiline, labelField, metadataField, format, timeField, timeFormat, timeFallback, csvColumns } =
    flags;
  if (csvColumns !== undefined && format !== 'csv') throw new UsageError('--csv-columns needs --format csv');
  return {
    format,
    timeField,
    timeFormat,
    timeFallback,
    csvColumns,
    labelFields: labelField,
    metadataFields: metadataField,
    multiline: multiline === true ? { kind: 'stack' } : multiline,
  };
}

/** Parses `level`, or `app=kubernetes.container_name`. */
function addChoice(text: string, before: readonly FieldChoice[]): readonly FieldChoice[] {
  const [, given, field] = /^(?:([^=]*)=)?(.*)$/s.exec(text)!;
  if (field === '') throw new InvalidArgumentError('A field is written NAME or LABEL=NAME.');
  const name = given ?? field.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_');
  if (!NAME.test(name))
    throw new InvalidArgumentError(
      `A label name has letters, digits and underscores, and does not start with a digit; "${name}" is invalid.`,
    );
  if (before.length >= MAX_FIELD_CHOICES)
    throw new InvalidArgumentError(`The maximum is ${MAX_FIELD_CHOICES} fields.`);
  return [...before, { name, field }];
}

function parseColumns(text: string): readonly string[] {
  const names = text.split(',').map(name => name.trim());
  if (names.includes('') || names.length > MAX_CSV_COLUMNS || new Set(names).size < names.length)
    throw new InvalidArgumentError('Columns are distinct names, separated by commas.');
  return names;
}

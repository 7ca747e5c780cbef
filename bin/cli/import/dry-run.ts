/** `logboom push --dry-run`: prints the first entries of the inputs as they would be stored. */
import { formatLabels, labelsOf } from '../../../shared/base/model/labels.ts';
import { OUTPUT_PAINT, printPainted } from '../standard-output.ts';
import { shownNanoseconds } from '../time-text.ts';
import { peek } from './first-bytes.ts';
import type { FormatName } from './formats.ts';
import type { ImportEntry, ImportPlan } from './import-plan.ts';
import { ImportReader, type InputContext, importFormat } from './import-reader.ts';
import { checkFields } from './input-batches.ts';

export const DRY_RUN_ENTRIES = 10;

interface ImportDryRunOptions {
  readonly plan: ImportPlan;
  readonly context: InputContext;
  readonly limit: number;
  readonly onFormat: (format: FormatName) => void;
}

/** Prints up to `limit` entries. Resolves to the number of printed entries. */
export async function dryRunImport(
  input: AsyncIterable<Buffer>,
  { plan, context, limit, onFormat }: ImportDryRunOptions,
): Promise<number> {
  const { first, all } = await peek(input);
  if (first === undefined) return 0;
  const format = importFormat(first, plan, context);
  checkFields(format, plan);
  onFormat(format);
  const entries: ImportEntry[] = [];
  const reader = new ImportReader(format, plan, context, entry => {
    if (entries.length < limit) entries.push(entry);
  });
  for await (const piece of all) {
    reader.feed(piece);
    if (entries.length >= limit) break;
  }
  if (entries.length < limit) reader.finish();
  for (const entry of entries) await printPainted(entryText(entry));
  return entries.length;
}

function entryText({ timeNs, labels, metadata, line }: ImportEntry): string {
  const { time, labels: paint, given } = OUTPUT_PAINT;
  const members = Object.keys(metadata).length === 0 ? '' : ` ${paint(formatLabels(labelsOf(metadata)))}`;
  const text = given(line).replaceAll('\n', '\n    ');
  return `${time(shownNanoseconds(timeNs))} ${paint(formatLabels(labelsOf(labels)))}${members} ${text}\n`;
}

/** Batches of an input, with format detection if needed. */
import { UsageError } from '../command-error.ts';
import type { PushBatchOptions } from '../push-batch.ts';
import { type EncodedBatch, plainBatches } from '../push-lines.ts';
import { peek } from './first-bytes.ts';
import type { FormatName } from './formats.ts';
import { type ImportCounts, importBatches } from './import-batch.ts';
import type { ImportPlan } from './import-plan.ts';
import { type InputContext, importFormat } from './import-reader.ts';

interface InputBatchOptions {
  readonly plan: ImportPlan;
  readonly context: InputContext;
  readonly batching: PushBatchOptions;
  readonly onFormat: (format: FormatName) => void;
  readonly onCounts: (counts: ImportCounts) => void;
}

export async function* inputBatches(
  input: AsyncIterable<Buffer>,
  { plan, context, batching, onFormat, onCounts }: InputBatchOptions,
): AsyncGenerator<EncodedBatch> {
  const { first, all } = await peek(input);
  if (first === undefined) return;
  const format = importFormat(first, plan, context);
  checkFields(format, plan);
  onFormat(format);
  if (format === 'plain' && plan.multiline === undefined && plan.timeFallback === undefined)
    yield* plainBatches(all, context.labels, batching);
  else onCounts(yield* importBatches(all, { format, plan, context }, batching));
}

/** Throws UsageError if fields are selected but the format has none. */
export function checkFields(format: FormatName, plan: ImportPlan): void {
  if (format !== 'plain') return;
  const asksFields =
    plan.timeField !== undefined || plan.labelFields.length > 0 || plan.metadataFields.length > 0;
  if (asksFields) throw new UsageError('cannot detect the format, so there are no fields; set --format');
}

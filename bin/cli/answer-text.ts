/** Formats entries as the lines that `logboom query` and `tail` print. */
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { NO_PAINT, type Paint } from './paint.ts';
import type { PrintedEntry } from './range-query.ts';
import { shownMilliseconds, shownNanoseconds } from './time-text.ts';
import type { TimeText } from './timestamp-formats.ts';

export const OUTPUTS = ['default', 'raw', 'jsonl', 'table', 'csv'] as const;
export type Output = (typeof OUTPUTS)[number];

export type LabelObject = Readonly<Record<string, string>>;

/** Labels that all entries share with the same value. */
export function commonLabels(labelSets: Iterable<LabelObject>): LabelObject {
  let common: [string, string][] | undefined;
  let before: LabelObject | undefined;
  for (const labels of labelSets) {
    // Entries of one stream share the label object.
    if (labels === before) continue;
    before = labels;
    common =
      common === undefined
        ? Object.entries(labels)
        : common.filter(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
  }
  return Object.fromEntries(common ?? []);
}

/**
 * Labels that are not common. A common label that an entry lacks is shown as empty, because the output says
 * that all entries have it.
 */
export function ownLabels(labels: LabelObject, common: LabelObject): LabelObject {
  const own = Object.entries(labels).filter(
    ([name, value]) => !(Object.hasOwn(common, name) && common[name] === value),
  );
  for (const name of Object.keys(common)) if (!Object.hasOwn(labels, name)) own.push([name, '']);
  return Object.fromEntries(own);
}

export function labelText(labels: LabelObject): string {
  return formatLabels(labelsOf(labels));
}

/** One line of output, with its line break. */
export function entryText(
  { timeNs, labels, line }: PrintedEntry,
  output: Exclude<Output, 'table' | 'csv'>,
  {
    common = {},
    paint = NO_PAINT,
    labelCells = 0,
    hasLabels = true,
    timeText = shownMilliseconds,
  }: {
    common?: LabelObject;
    paint?: Paint;
    labelCells?: number;
    hasLabels?: boolean;
    timeText?: TimeText;
  } = {},
): string {
  switch (output) {
    case 'raw':
      return `${paint.given(line)}\n`;
    case 'jsonl':
      return `${paint.given(JSON.stringify({ timestamp: shownNanoseconds(timeNs), labels, line }))}\n`;
    case 'default': {
      const shown = hasLabels
        ? `${paint.labels(labelText(ownLabels(labels, common)).padEnd(labelCells))} `
        : '';
      const lines = paint.given(line).replaceAll('\n', `\n${paint.indent}`);
      return `${paint.time(timeText(timeNs))} ${shown}${lines}\n`;
    }
  }
}

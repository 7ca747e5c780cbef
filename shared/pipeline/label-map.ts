/**
 * The labels of a row put together: all categories merged and sorted (logql reference 6.2), and the same by category
 * for answers that keep them apart (wire-format reference 3.4).
 */
import { compareUtf8 } from '../model/bytes.ts';
import type { Label, Labels } from '../model/labels.ts';
import { ERROR_DETAILS_LABEL, ERROR_LABEL } from './names.ts';
import { PARSED, type RowLabels } from './row-labels.ts';

export interface LabelCategories {
  readonly stream: Labels;
  readonly structuredMetadata: Labels;
  readonly parsed: Labels;
}

/** True where the stream's labels are the row's labels: nothing was added, deleted or failed. */
export function isUntouched(labels: RowLabels): boolean {
  if (labels.valueCount > 0 || labels.deletions > 0 || labels.error !== '') return false;
  let untouched = true;
  labels.forEachMetadata(() => {
    untouched = false;
  });
  return untouched;
}

export function categoriesOf(labels: RowLabels): LabelCategories {
  if (isUntouched(labels)) return { stream: labels.base, structuredMetadata: [], parsed: [] };
  const stream = labels.base.filter(({ name }) => {
    const id = labels.intern(name);
    return labels.lookup(id) !== PARSED && labels.columnOf(id) < 0 && !labels.isDeleted(id);
  });
  const structuredMetadata: Label[] = [];
  labels.forEachMetadata(id => {
    if (labels.lookup(id) !== PARSED) {
      structuredMetadata.push({ name: labels.names.texts[id], value: labels.get(id)! });
    }
  });
  const parsed: Label[] = [];
  for (let place = 0; place < labels.valueCount; place++) {
    const id = labels.valueNames[place];
    if (id >= 0) parsed.push({ name: labels.names.texts[id], value: labels.valueText(place) });
  }
  if (labels.error !== '') parsed.push({ name: ERROR_LABEL, value: labels.error });
  if (labels.errorDetails !== '') parsed.push({ name: ERROR_DETAILS_LABEL, value: labels.errorDetails });
  return { stream, structuredMetadata: structuredMetadata.sort(byName), parsed: parsed.sort(byName) };
}

export function mergedLabels({ stream, structuredMetadata, parsed }: LabelCategories): Labels {
  if (structuredMetadata.length === 0 && parsed.length === 0) return stream;
  return [...stream, ...structuredMetadata, ...parsed].sort(byName);
}

function byName(a: Label, b: Label): number {
  return compareUtf8(a.name, b.name);
}

/** Name and value of every label of the row, as templates see them. */
export function labelEntries(labels: RowLabels): (readonly [string, string])[] {
  return mergedLabels(categoriesOf(labels)).map(({ name, value }) => [name, value]);
}

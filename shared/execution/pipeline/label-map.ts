/**
 * Combined labels of a row: all categories merged and sorted (docs/dev/logql-semantics.md#result-labels), and the same by category
 * for responses that separate them (docs/dev/wire-format.md#label-categories).
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Label, Labels } from '../../base/model/labels.ts';
import { ERROR_DETAILS_LABEL, ERROR_LABEL } from '../../base/text/names.ts';
import { PARSED, type RowLabels } from './row-labels.ts';

export interface LabelCategories {
  readonly stream: Labels;
  readonly structuredMetadata: Labels;
  readonly parsed: Labels;
}

/** Returns whether the row's labels equal the stream's labels: nothing was added, deleted or failed. */
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
  const stream = labels.base.filter((_, i) => {
    const id = labels.baseIds[i];
    return labels.lookup(id) !== PARSED && labels.columnOf(id) < 0 && !labels.isDeleted(id);
  });
  const structuredMetadata: Label[] = [];
  labels.forEachMetadata(id => {
    if (labels.lookup(id) !== PARSED) {
      structuredMetadata.push({ name: labels.names.texts[id], value: labels.get(id)! });
    }
  });
  if (structuredMetadata.length > 1) structuredMetadata.sort(byName);
  const { texts } = labels.names;
  const parsed: Label[] = [];
  for (const index of orderOf(labels).indexesOf(labels)) {
    parsed.push({ name: texts[labels.valueNames[index]], value: labels.valueText(index) });
  }
  if (labels.error === '' && labels.errorDetails === '') return { stream, structuredMetadata, parsed };
  if (labels.error !== '') parsed.push({ name: ERROR_LABEL, value: labels.error });
  if (labels.errorDetails !== '') parsed.push({ name: ERROR_DETAILS_LABEL, value: labels.errorDetails });
  return { stream, structuredMetadata, parsed: parsed.sort(byName) };
}

const ORDERS = new WeakMap<RowLabels, ParsedOrder>();

function orderOf(labels: RowLabels): ParsedOrder {
  let order = ORDERS.get(labels);
  if (order === undefined) ORDERS.set(labels, (order = new ParsedOrder()));
  return order;
}

/**
 * Indexes of a row's parsed labels by name. Sorted once for rows that set the same labels in the same order.
 */
class ParsedOrder {
  #generation = -1;
  readonly #names: number[] = [];
  #indexes: readonly number[] = [];

  indexesOf(labels: RowLabels): readonly number[] {
    const { valueCount, valueNames, names } = labels;
    const known = this.#names;
    let isKnown = known.length === valueCount && this.#generation === names.generation;
    for (let index = 0; isKnown && index < valueCount; index++) isKnown = known[index] === valueNames[index];
    if (isKnown) return this.#indexes;
    this.#generation = names.generation;
    known.length = 0;
    const indexes: number[] = [];
    for (let index = 0; index < valueCount; index++) {
      known.push(valueNames[index]);
      if (valueNames[index] >= 0) indexes.push(index);
    }
    const { texts } = names;
    this.#indexes = indexes.sort((a, b) => compareUtf8(texts[valueNames[a]], texts[valueNames[b]]));
    return this.#indexes;
  }
}

export function mergedLabels({ stream, structuredMetadata, parsed }: LabelCategories): Labels {
  if (structuredMetadata.length === 0 && parsed.length === 0) return stream;
  return merged(merged(stream, structuredMetadata), parsed);
}

/** Merges two sorted lists; at equal names, those of `a` come first. */
function merged(a: Labels, b: Labels): Labels {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const out: Label[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) out.push(byName(b[j], a[i]) < 0 ? b[j++] : a[i++]);
  while (i < a.length) out.push(a[i++]);
  while (j < b.length) out.push(b[j++]);
  return out;
}

function byName(a: Label, b: Label): number {
  return compareUtf8(a.name, b.name);
}

/** Returns name and value of every label of the row, as templates see them. */
export function labelEntries(labels: RowLabels): (readonly [string, string])[] {
  return mergedLabels(categoriesOf(labels)).map(({ name, value }) => [name, value]);
}

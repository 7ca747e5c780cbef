/**
 * Label sets. A `Labels` value is sorted by name (UTF-8 bytes) and holds each name once; every function here
 * keeps it so. The canonical text, `{a="1", b="2"}`, is what identifies a stream.
 */
import { compareUtf8 } from './bytes.ts';
import { quote } from './quote.ts';

export interface Label {
  readonly name: string;
  readonly value: string;
}

export type Labels = readonly Label[];

export const NO_LABELS: Labels = Object.freeze([]);

/** Sorted labels of an object or of pairs; of equal names the last one stays. */
export function labelsOf(
  pairs: Readonly<Record<string, string>> | Iterable<readonly [string, string]>,
): Labels {
  const entries =
    Symbol.iterator in pairs ? (pairs as Iterable<readonly [string, string]>) : Object.entries(pairs);
  const byName = new Map<string, string>();
  for (const [name, value] of entries) byName.set(name, value);
  return [...byName].map(([name, value]) => ({ name, value })).sort((a, b) => compareUtf8(a.name, b.name));
}

/**
 * Canonical text of a label set, `{a="1", b="2"}`, values quoted as Go does. Joined at once: a text that grows piece by piece
 * is a tree of pieces to V8, which each collection walks, and which is put together when it is first compared.
 */
export function formatLabels(labels: Labels): string {
  const last = labels.length - 1;
  if (last < 0) return '{}';
  const parts = new Array<string>(labels.length);
  for (let i = 0; i <= last; i++) parts[i] = `${labels[i].name}=${quote(labels[i].value)}`;
  parts[0] = `{${parts[0]}`;
  parts[last] += '}';
  return parts.join(', ');
}

/** The value of a name, or undefined. Label sets are small: a scan beats a map. */
export function labelValue(labels: Labels, name: string): string | undefined {
  for (let i = 0; i < labels.length; i++) if (labels[i].name === name) return labels[i].value;
  return undefined;
}

/** Order of label sets: label by label, name before value; a prefix comes first. */
export function compareLabels(a: Labels, b: Labels): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareUtf8(a[i].name, b[i].name) || compareUtf8(a[i].value, b[i].value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** The labels as a plain object, as JSON answers show them: bytes that are not UTF-8 as U+FFFD. */
export function labelsToObject(labels: Labels): Record<string, string> {
  const out: Record<string, string> = {};
  for (const label of labels) {
    const { name } = label;
    const value = label.value.toWellFormed();
    // A label named __proto__ must become an own key, not the prototype.
    if (name === '__proto__')
      Object.defineProperty(out, name, { value, enumerable: true, configurable: true });
    else out[name] = value;
  }
  return out;
}

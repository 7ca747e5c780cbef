/**
 * Label sets. A `Labels` value is sorted by name (UTF-8 bytes) and holds each name once; every function in
 * this file preserves that. The canonical text, `{a="1", b="2"}`, identifies a stream.
 */
import { compareUtf8 } from './bytes.ts';
import { quote } from './quote.ts';

export interface Label {
  readonly name: string;
  readonly value: string;
}

export type Labels = readonly Label[];

export const NO_LABELS: Labels = Object.freeze([]);

/** Returns sorted labels of an object or of pairs. If a name repeats, the last value wins. */
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
 * Returns the canonical text of a label set, `{a="1", b="2"}`, with values quoted as in Go. The parts are
 * joined in one call. V8 stores a text that grows by concatenation as a tree, which each collection walks and
 * the first comparison flattens.
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

/** Returns the value of a name, or undefined. Label sets are small, so a scan is faster than a map. */
export function labelValue(labels: Labels, name: string): string | undefined {
  for (let i = 0; i < labels.length; i++) if (labels[i].name === name) return labels[i].value;
  return undefined;
}

/** Compares label sets label by label, name before value; a prefix comes first. */
export function compareLabels(a: Labels, b: Labels): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareUtf8(a[i].name, b[i].name) || compareUtf8(a[i].value, b[i].value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Returns the labels as a plain object for JSON responses; bytes that are not UTF-8 become U+FFFD. */
export function labelsToObject(labels: Labels): Record<string, string> {
  const out: Record<string, string> = {};
  for (const label of labels) {
    const { name } = label;
    const value = label.value.toWellFormed();
    // Define a label named `__proto__` as an own key, so that it does not set the prototype.
    if (name === '__proto__')
      Object.defineProperty(out, name, { value, enumerable: true, configurable: true });
    else out[name] = value;
  }
  return out;
}

/**
 * `| drop a, b="x"` and `| keep a, b="x"` (docs/dev/logql-semantics.md#drop-keep-and-decolorize). They drop or preserve labels by name, or by
 * name and a matcher that accepts the value. `keep` never removes the error labels; `drop` clears them one by
 * one.
 */

import { ERROR_DETAILS_LABEL, ERROR_LABEL, PRESERVE_ERROR_LABEL } from '../../base/text/names.ts';
import type { NamedItem } from '../../language/logql/ast.ts';
import { compileMatcher } from '../../language/logql/matcher.ts';
import type { Row, RowStage } from './row.ts';
import { PARSED, type RowLabels } from './row-labels.ts';

interface DropKeepItem {
  readonly name: string;
  readonly id: number;
  /** Undefined for a plain name. */
  readonly accepts: ((value: string) => boolean) | undefined;
}

function compileItems(items: readonly NamedItem[], labels: RowLabels): DropKeepItem[] {
  return items.map(item => {
    const name = item.kind === 'name' ? item.name : item.matcher.name;
    const accepts = item.kind === 'name' ? undefined : compileMatcher(item.matcher);
    return { name, id: labels.intern(name), accepts };
  });
}

export function compileDrop(items: readonly NamedItem[], labels: RowLabels): RowStage {
  const compiled = compileItems(items, labels);
  return () => {
    for (const item of compiled) dropItem(item, labels);
    return true;
  };
}

function dropItem({ name, id, accepts }: DropKeepItem, labels: RowLabels): void {
  if (name === ERROR_LABEL) {
    if (accepts === undefined || accepts(labels.error)) labels.error = '';
    return;
  }
  if (name === ERROR_DETAILS_LABEL) {
    if (accepts === undefined || accepts(labels.errorDetails)) labels.errorDetails = '';
    return;
  }
  const value = labels.get(id);
  if (accepts === undefined ? value !== undefined : accepts(value ?? '')) labels.delete(id);
}

export function compileKeep(items: readonly NamedItem[], labels: RowLabels): RowStage {
  const compiled = compileItems(items, labels);
  const preserve = labels.intern(PRESERVE_ERROR_LABEL);
  const doomed: number[] = [];

  function consider(id: number): void {
    if (id === preserve) return;
    const value = labels.get(id)!;
    for (const item of compiled) {
      if (item.id === id && (item.accepts === undefined || item.accepts(value))) return;
    }
    doomed.push(id);
  }

  return (_row: Row) => {
    doomed.length = 0;
    forEachName(labels, consider);
    for (const id of doomed) labels.delete(id);
    return true;
  };
}

/** Calls `visit` once for every name that is readable in the row. */
function forEachName(labels: RowLabels, visit: (id: number) => void): void {
  for (let index = 0; index < labels.valueCount; index++) {
    if (labels.valueNames[index] >= 0) visit(labels.valueNames[index]);
  }
  labels.forEachMetadata(id => {
    if (labels.lookup(id) !== PARSED) visit(id);
  });
  for (const { name } of labels.base) {
    const id = labels.intern(name);
    if (labels.lookup(id) !== PARSED && labels.columnOf(id) < 0 && !labels.isDeleted(id)) visit(id);
  }
}

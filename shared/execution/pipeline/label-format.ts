/**
 * `| label_format a=b, c="..."` (docs/dev/logql-semantics.md#label_format), evaluated left to right. All templates of a stage see
 * the labels as they were before its first template. They see earlier renames, but neither results of
 * templates nor later renames. Renaming a label to itself has no effect (difference D5).
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ERROR_LABEL } from '../../base/text/names.ts';
import type { LabelFormatItem } from '../../language/logql/ast.ts';
import { compileTemplateNamed } from './line-format.ts';
import type { Row, RowStage } from './row.ts';
import type { RowLabels } from './row-labels.ts';
import type { Template, TemplateData } from './template/template.ts';
import { failTemplate, RowTemplateData } from './templates.ts';

type CompiledItem =
  | { readonly kind: 'rename'; readonly id: number; readonly sourceId: number }
  | { readonly kind: 'template'; readonly id: number; readonly template: Template };

/** Throws an Error with the reference's text for a repeated name, `__error__` or an invalid template. */
export function compileLabelFormat(items: readonly LabelFormatItem[], row: Row, clock: Clock): RowStage {
  refuseBadNames(items);
  const { labels } = row;
  const compiled = items.map((item): CompiledItem => {
    const id = labels.intern(item.name);
    if (item.kind === 'rename') return { kind: 'rename', id, sourceId: labels.intern(item.source) };
    const prefix = `invalid template for label '${item.name}': `;
    return { kind: 'template', id, template: compileTemplateNamed(item.template, prefix, 'label') };
  });
  const live = new RowTemplateData(row, clock);
  const firstTemplate = compiled.findIndex(item => item.kind === 'template');
  // If no item follows the first template, it sees the current labels.
  const needsSnapshot = firstTemplate >= 0 && firstTemplate < compiled.length - 1;

  return current => {
    let data: TemplateData | undefined;
    for (const item of compiled) {
      if (item.kind === 'rename') {
        rename(labels, item.sourceId, item.id);
        continue;
      }
      // An empty snapshot is replaced by a new one.
      if (data === undefined || (data instanceof Snapshot && data.isEmpty)) {
        data = needsSnapshot ? new Snapshot(live) : live;
      }
      try {
        labels.setText(item.id, item.template.render(data));
      } catch (error) {
        failTemplate(current, messageOf(error));
      }
    }
    return true;
  };
}

function refuseBadNames(items: readonly LabelFormatItem[]): void {
  const names = new Set<string>();
  for (const { name } of items) {
    if (name === ERROR_LABEL) throw new Error(`${ERROR_LABEL} cannot be formatted`);
    if (names.has(name)) {
      throw new Error(`multiple label name '${name}' not allowed in a single format operation`);
    }
    names.add(name);
  }
}

function rename(labels: RowLabels, source: number, destination: number): void {
  if (source === destination) return;
  const value = labels.get(source);
  if (value === undefined) return;
  labels.setText(destination, value);
  labels.delete(source);
}

/** Copy of the labels, because the stage changes them later. */
class Snapshot implements TemplateData {
  readonly #entries: readonly (readonly [string, string])[];
  readonly #values: ReadonlyMap<string, string>;
  readonly #live: RowTemplateData;

  constructor(live: RowTemplateData) {
    this.#live = live;
    this.#entries = live.entries();
    this.#values = new Map(this.#entries);
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get clock(): Clock {
    return this.#live.clock;
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  entries(): Iterable<readonly [string, string]> {
    return this.#entries;
  }

  line(): string {
    return this.#live.line();
  }

  get timestampNs(): bigint {
    return this.#live.timestampNs;
  }
}

/**
 * Shared by template stages: the data that a template sees, and the handling of its failures
 * (docs/dev/logql-semantics.md#label_format, #line_format). Unlike a lookup of one label, the map of labels includes `__error__` and its details.
 */
import type { Clock } from '../../base/ports/clock.ts';
import { ERROR_DETAILS_LABEL, ERROR_LABEL } from '../../base/text/names.ts';
import { isUntouched, labelEntries } from './label-map.ts';
import type { Row } from './row.ts';
import type { TemplateData } from './template/template.ts';

const TEMPLATE_ERROR = 'TemplateFormatErr';

/** Row as a template sees it, read on demand. */
export class RowTemplateData implements TemplateData {
  readonly #row: Row;
  readonly clock: Clock;

  constructor(row: Row, clock: Clock) {
    this.#row = row;
    this.clock = clock;
  }

  get(name: string): string | undefined {
    const { labels } = this.#row;
    if (name === ERROR_LABEL) return labels.error === '' ? undefined : labels.error;
    if (name === ERROR_DETAILS_LABEL) {
      return labels.errorDetails === '' || isUntouched(labels) ? undefined : labels.errorDetails;
    }
    return labels.get(labels.intern(name));
  }

  entries(): (readonly [string, string])[] {
    return labelEntries(this.#row.labels);
  }

  line(): string {
    return this.#row.line();
  }

  get timestampNs(): bigint {
    return this.#row.timestampNs;
  }
}

export function failTemplate(row: Row, details: string): void {
  row.labels.error = TEMPLATE_ERROR;
  row.labels.errorDetails = details;
}

/**
 * View of a page with some parts replaced. All other parts are read from the page on demand. The page decodes
 * its columns on first use, so a copy of the page would decode all of them.
 */
import type { BytePattern } from './byte-pattern.ts';
import type { KnownFilters, LineValues, MetadataColumn, NarrowedPage, PageRows, Run } from './page.ts';
import type { CaptureWants, PageCaptures } from './page-captures.ts';
import type { FieldColumns } from './page-fields.ts';

export class PageView implements PageRows {
  readonly #page: PageRows;
  readonly #replaced: Partial<Pick<PageRows, 'lines' | 'runs' | 'metadata'>>;

  constructor(page: PageRows, replaced: Partial<Pick<PageRows, 'lines' | 'runs' | 'metadata'>>) {
    this.#page = page;
    this.#replaced = replaced;
  }

  get rows(): number {
    return this.#page.rows;
  }

  get baseNs(): bigint {
    return this.#page.baseNs;
  }

  get times(): Float64Array {
    return this.#page.times;
  }

  get lines(): Buffer {
    return this.#replaced.lines ?? this.#page.lines;
  }

  get lineOffsets(): Uint32Array {
    return this.#page.lineOffsets;
  }

  get runs(): readonly Run[] {
    return this.#replaced.runs ?? this.#page.runs;
  }

  get metadata(): readonly MetadataColumn[] {
    return this.#replaced.metadata ?? this.#page.metadata;
  }

  get fieldColumns(): FieldColumns | undefined {
    return this.#page.fieldColumns;
  }

  get knownFilters(): KnownFilters | undefined {
    return this.#page.knownFilters;
  }

  captures(wants: CaptureWants, runs: readonly Run[], rows: number): PageCaptures | undefined {
    return 'lines' in this.#replaced ? undefined : this.#page.captures?.(wants, runs, rows);
  }

  narrow(selection: Uint32Array, count: number, patterns: readonly BytePattern[]): NarrowedPage | undefined {
    if ('lines' in this.#replaced) return undefined;
    const narrowed = this.#page.narrow?.(selection, count, patterns);
    return narrowed && { ...narrowed, page: new PageView(narrowed.page, this.#replaced) };
  }

  values(selection: Uint32Array, count: number): LineValues | undefined {
    return 'lines' in this.#replaced ? undefined : this.#page.values?.(selection, count);
  }
}

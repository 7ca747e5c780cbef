/** The additional data of an object, as plain values. */

import {
  decodeHeader,
  maxHeaderBytes,
  PageFlag,
  rangeOfUnit,
} from '../../shared/execution/text-index/filter-layout.ts';
import { probePages, unitsOf } from '../../shared/execution/text-index/filter-reader.ts';
import type { FieldSummary } from '../../shared/execution/text-index/page-summary.ts';
import {
  containing,
  havingValue,
  type PruningPredicate,
} from '../../shared/execution/text-index/pruning-predicate.ts';
import { decodeSummaries } from '../../shared/execution/text-index/summary-codec.ts';
import { fieldWord, metadataWord, valueTerm } from '../../shared/execution/text-index/value-terms.ts';
import { ColumnKind, type Footer, SectionKind } from '../../shared/storage/chunk/format.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import { decodeColumn, FALLBACK_ID } from '../../shared/storage/columns/column-decoder.ts';

/**
 * For each page and field column, the values of all rows: null if absent, false if the line must be parsed.
 */
export function columnsOf(object: Buffer, footer: Footer): Record<string, (string | null | false)[]>[] {
  return footer.pages.map(page => {
    const fieldColumns = page.columns.filter(({ kind }) => kind === ColumnKind.field);
    return Object.fromEntries(
      fieldColumns.map(({ name, block: { offset, storedBytes } }) => {
        const start = page.offset + offset;
        const column = decodeColumn(object.subarray(start, start + storedBytes), page.rows, 'golden');
        const values = Array.from(column.ids, id =>
          id === FALLBACK_ID ? (false as const) : id === 0 ? null : column.valueAt(id - 1),
        );
        return [name, values];
      }),
    );
  });
}

/** The same of fields of either form, as a query reads them. */
export function fieldsOfObject(object: Buffer, footer: Footer): Record<string, (string | null | false)[]>[] {
  return footer.pages.map(page => {
    const columns = new PageColumns(footer, page, 'golden');
    columns.add(0, object.subarray(page.offset, page.offset + page.storedBytes));
    const fields = columns.page.columns.filter(
      ({ kind }) => kind === ColumnKind.field || kind === ColumnKind.splitField,
    );
    return Object.fromEntries(
      fields.map(meta => {
        const column = columns.field(meta)!;
        const values = Array.from(column.ids, id =>
          id === FALLBACK_ID ? (false as const) : id === 0 ? null : column.valueAt(id - 1),
        );
        return [`${meta.kind} ${meta.name}`, values];
      }),
    );
  });
}

/**
 * For each page and row, the stored residual fields, or false if the line must be read; null for a page without
 * residuals.
 */
export function encodeResiduals(object: Buffer, footer: Footer): ((string | false)[] | null)[] {
  return footer.pages.map(page => {
    const residuals = page.columns.find(({ kind }) => kind === ColumnKind.residuals);
    if (residuals === undefined) return null;
    const start = page.offset + residuals.block.offset;
    const column = decodeColumn(
      object.subarray(start, start + residuals.block.storedBytes),
      page.rows,
      'golden',
    );
    return Array.from(column.ids, id => id !== FALLBACK_ID && (id === 0 ? '' : column.valueAt(id - 1)));
  });
}

/** For each page 1 if it may contain the text. */
export function mayHold(object: Buffer, footer: Footer, needle: string): number[] {
  return mayMeet(object, footer, containing(Buffer.from(needle)));
}

/** For each page 1 if some row may have the value of the metadata name. */
export function mayHaveMetadata(object: Buffer, footer: Footer, name: string, value: string): number[] {
  const bytes = Buffer.from(value);
  return mayMeet(object, footer, havingValue(valueTerm(metadataWord(name), bytes, 0, bytes.length)));
}

/** For each page 1 if some JSON line may have the value of the field. */
export function mayHaveField(object: Buffer, footer: Footer, name: string, value: string): number[] {
  const bytes = Buffer.from(value);
  return mayMeet(
    object,
    footer,
    havingValue(valueTerm(fieldWord(name), bytes, 0, bytes.length), PageFlag.jsonUnknown),
  );
}

/** For each page the summaries of its fields. */
export function summariesOfObject(object: Buffer, footer: Footer): FieldSummary[][] {
  const { block } = footer.sections.find(({ kind }) => kind === SectionKind.summaries)!;
  const section = object.subarray(block.offset, block.offset + block.storedBytes);
  return decodeSummaries(section, footer.pages.length)!.map(page => [...page.values()]);
}

function mayMeet(object: Buffer, footer: Footer, requirement: PruningPredicate): number[] {
  const { block } = footer.sections.find(({ kind }) => kind === SectionKind.filter)!;
  const section = object.subarray(block.offset, block.offset + block.storedBytes);
  const index = decodeHeader(section.subarray(0, maxHeaderBytes(footer.pages.length)), footer.pages.length);
  const units = unitsOf(index, requirement).map(unit => {
    const { offset, bytes } = rangeOfUnit(index, unit);
    return [unit, section.subarray(offset, offset + bytes)] as const;
  });
  return [...probePages(index, requirement, new Map(units))];
}

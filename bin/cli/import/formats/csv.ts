/**
 * Comma, semicolon or tab separated values with a header line (RFC 4180). An entry is stored as a JSON object
 * of its columns, because a row is meaningless without the header.
 */
import type { FormatOptions, LineFormat } from '../line-format.ts';

const SEPARATORS = [',', ';', '\t'];
/**
 * Maximum number of columns, more than tables that people make. Wider rows are refused, so that no line
 * becomes a huge object.
 */
export const MAX_CSV_COLUMNS = 1000;

export function csvFormat({ csvColumns }: Pick<FormatOptions, 'csvColumns'>): LineFormat {
  let columns = csvColumns;
  let separator: string | undefined;
  return {
    readHeader(line) {
      if (columns !== undefined) return false;
      separator = separatorOf(line);
      columns = csvCells(line, separator) ?? [line];
      return true;
    },
    isOpen: text => (text.split('"').length - 1) % 2 === 1,
    parse(line) {
      if (columns === undefined) return undefined;
      separator ??= separatorOf(line);
      const cells = csvCells(line, separator);
      if (cells === undefined || cells.length !== columns.length) return undefined;
      const fields = Object.fromEntries(cells.map((cell, i) => [columns![i], cell]));
      return { fields, line: JSON.stringify(fields) };
    },
  };
}

/** Separator that occurs most often in the line. */
function separatorOf(line: string): string {
  const counts = SEPARATORS.map(each => line.split(each).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))];
}

/** Cells of a line; undefined if a quote is not closed, text follows a quote, or there are too many cells. */
export function csvCells(line: string, separator: string): readonly string[] | undefined {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (cells.length === MAX_CSV_COLUMNS) return undefined;
    if (line[at] === '"') {
      let end = line.indexOf('"', at + 1);
      while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2);
      if (end < 0) return undefined;
      cells.push(line.slice(at + 1, end).replaceAll('""', '"'));
      at = end + 1;
      if (at < line.length && line[at] !== separator) return undefined;
    } else {
      const next = line.indexOf(separator, at);
      const end = next < 0 ? line.length : next;
      cells.push(line.slice(at, end));
      at = end;
    }
    if (at >= line.length) return cells;
    at++;
  }
}

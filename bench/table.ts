/** Tables for a terminal: texts left-aligned, numbers right-aligned. */

export type Cell = string | number | null | undefined;

/** Lines of equal columns; numbers have three significant digits, or all digits before the decimal point. */
export function formatTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows.map(row => row.map(formatCell))];
  const isText = head.map((_, column) => rows.every(row => typeof row[column] === 'string'));
  const widths = head.map((_, column) => Math.max(...lines.map(line => (line[column] ?? '').length)));
  return lines
    .map(line =>
      line
        .map((cell, column) => (isText[column] ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '-';
  if (typeof cell === 'string') return cell;
  if (!Number.isFinite(cell)) return '-';
  return Math.abs(cell) >= 100 ? cell.toFixed(0) : String(Number(cell.toPrecision(3)));
}

/** Tables for a terminal: the first column to the left, the others to the right. */

export type Cell = string | number | null | undefined;

/** Lines of equal columns; numbers with three significant digits or all that are before the point. */
export function formatTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows.map(row => row.map(formatCell))];
  const widths = head.map((_, column) => Math.max(...lines.map(line => (line[column] ?? '').length)));
  return lines
    .map(line =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
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

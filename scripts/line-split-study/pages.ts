/** Cuts lines of one kind into pages like the store: 1 MiB of lines, or the rest of a sample. */

export interface Page {
  readonly lines: Buffer;
  /** Start of each line, and the end of the last one. */
  readonly offsets: Uint32Array;
  readonly rows: number;
}

const PAGE_BYTES = 1024 * 1024;
/** Maximum rows per page, as in the store's format. */
const MAX_ROWS = 65_536;

/** Up to `maxPages` pages, spread evenly over the lines, so that late lines of a sample count too. */
export function cutPages(lines: readonly Buffer[], maxPages: number): Page[] {
  const pages: Page[] = [];
  let first = 0;
  let bytes = 0;
  for (let i = 0; i < lines.length; i++) {
    bytes += lines[i].length;
    if (bytes < PAGE_BYTES && i - first + 1 < MAX_ROWS && i + 1 < lines.length) continue;
    pages.push(pageOf(lines.slice(first, i + 1)));
    first = i + 1;
    bytes = 0;
  }
  if (pages.length <= maxPages) return pages;
  return Array.from({ length: maxPages }, (_, i) => pages[Math.floor((i * pages.length) / maxPages)]);
}

export function pageOf(lines: readonly Buffer[]): Page {
  const offsets = new Uint32Array(lines.length + 1);
  lines.forEach((line, i) => {
    offsets[i + 1] = offsets[i] + line.length;
  });
  return { lines: Buffer.concat(lines), offsets, rows: lines.length };
}

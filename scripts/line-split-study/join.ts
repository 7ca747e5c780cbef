/** Builds the lines of a split page in JavaScript, as a reference for the kernel. */
import { END, MARK, PLAIN, type SplitPage } from './split.ts';

/** All lines, concatenated. */
export function joinPage(page: SplitPage, lineBytes: number): Buffer {
  const out = Buffer.allocUnsafe(lineBytes);
  const cursors = new Uint32Array(page.columns.length);
  let length = 0;
  let plainRow = 0;
  let plainAt = 0;
  for (let row = 0; row < page.rows; row++) {
    const id = page.ids[row];
    if (id === PLAIN) {
      const bytes = page.plainLengths[plainRow++];
      page.plainLines.copy(out, length, plainAt, plainAt + bytes);
      plainAt += bytes;
      length += bytes;
      continue;
    }
    const { text, columns } = page.templates[id - 1];
    let variable = 0;
    for (let i = 0; i < text.length; i++) {
      if (text[i] !== MARK) {
        out[length++] = text[i];
        continue;
      }
      const column = columns[variable++];
      const values = page.columns[column];
      let at = cursors[column];
      while (values[at] !== END) out[length++] = values[at++];
      cursors[column] = at + 1;
    }
  }
  if (length !== lineBytes) throw new Error(`a split page gives ${length} bytes of lines, of ${lineBytes}`);
  return out;
}

/**
 * Frame of split lines (docs/dev/format.md#47-split-lines), as far as fields need it: which columns a template has, and the template of
 * each row. A page whose fields are columns of the split has the frame in a separate block, with the parser of each template.
 */
import { CorruptionError } from '../../base/model/errors.ts';

/** Types of columns, as in docs/dev/format.md. */
export const SPLIT_TEXT = 0;
export const SPLIT_WORDS = 1;
export const SPLIT_NUMBER = 2;

export interface SplitRecord {
  readonly type: number;
  readonly detail: number;
  readonly width: number;
  readonly mode: number;
  /** Number of values. */
  readonly count: number;
  readonly bytes: number;
  readonly number: number;
  readonly base: number;
}

export interface SplitFrame {
  /** Templates, without template 0. */
  readonly templates: number;
  /** Bytes of the frame alone. */
  readonly bytes: number;
  readonly records: readonly SplitRecord[];
  readonly templateOf: Uint16Array;
  /** Returns the number of values of a column in a row of each template. */
  usesOf(column: number): Uint8Array;
}

const HEAD_BYTES = 24;
const RECORD_BYTES = 24;

/** Reads the frame at the start of `raw`. Throws CorruptionError; `what` names the page. */
export function readSplitFrame(raw: Uint8Array, rows: number, what: string): SplitFrame {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  const check = (condition: boolean) => {
    if (!condition) throw new CorruptionError(`${what}: the frame of the split lines is damaged`);
  };
  check(raw.length >= HEAD_BYTES);
  const [templates, pieces, textBytes, columns, ownRows, width] = [0, 4, 8, 12, 16, 20].map(at =>
    view.getUint32(at, true),
  );
  const lengthsAt = HEAD_BYTES + 2 * templates;
  const recordsAt = lengthsAt + 4 * pieces + textBytes;
  const rowsAt = recordsAt + RECORD_BYTES * columns;
  const bytes = rowsAt + width * rows;
  check(ownRows === rows && (width === 1 || width === 2) && bytes <= raw.length);
  const records = Array.from({ length: columns }, (_, i): SplitRecord => {
    const at = recordsAt + RECORD_BYTES * i;
    return {
      type: raw[at],
      detail: raw[at + 1],
      width: raw[at + 2],
      mode: raw[at + 3],
      count: view.getUint32(at + 4, true),
      bytes: view.getUint32(at + 8, true),
      number: view.getUint32(at + 12, true),
      base: Number(view.getBigInt64(at + 16, true)),
    };
  });
  const templateOf = new Uint16Array(rows);
  for (let row = 0; row < rows; row++) {
    templateOf[row] = raw[rowsAt + row] | (width === 2 ? raw[rowsAt + rows + row] << 8 : 0);
    check(templateOf[row] <= templates);
  }
  const usesOf = (column: number) => {
    const uses = new Uint8Array(templates + 1);
    let piece = 0;
    for (let template = 1; template <= templates; template++) {
      const end = piece + view.getUint16(HEAD_BYTES + 2 * (template - 1), true);
      check(end > piece && end <= pieces);
      // The last literal has no value behind it.
      for (; piece < end - 1; piece++)
        if (view.getUint16(lengthsAt + 2 * (pieces + piece), true) === column) uses[template]++;
      piece = end;
    }
    return uses;
  };
  return { templates, bytes, records, templateOf, usesOf };
}

/**
 * Splits a page into templates and columns. A line is a template, which consists of literals, and the values
 * between them. With template 0, the whole line is one value of column 0. The host writes the lines to
 * SPLIT_LINES, their offsets to SPLIT_OFFSETS, and the times of day of the rows, if they are known, to SPLIT_TIMES. The output is:
 *
 *     columns   all columns at SPLIT_OUT, as their records describe (column-pack.ts)
 *     frame     after the columns: a header, then everything else (`writeFrame`)
 */
import { packColumn } from './column-pack';
import {
  clearTemplates,
  columnCount,
  findTemplate,
  layLiterals,
  pieceCount,
  templateCount,
  templateTextBytes,
} from './line-templates';
import { findVariables, markVariables } from './line-variables';
import { setTimes } from './row-clock';
import {
  COLUMN_ENDS,
  COLUMN_RECORD,
  COLUMN_RECORDS,
  FRAME_HEAD,
  MAX_COLUMNS,
  MAX_SPANS,
  MAX_TEMPLATES,
  MAX_VARIABLES,
  MAX_VARIED_LINE,
  PIECE_COLUMNS,
  PIECE_LENGTHS,
  ROW_TEMPLATES,
  SORTED_SPANS,
  SPAN_COLUMNS,
  SPANS,
  SPLIT_OFFSETS,
  SPLIT_OUT,
  SPLIT_TIMES,
  TEMPLATE_RECORD,
  TEMPLATE_TEXT,
  TEMPLATES,
} from './split-layout';

let frameAt: usize = 0;

export function splitFrame(): usize {
  return frameAt;
}

/** Splits the page, with or without times. Returns the end of the output, or 0 if the page has too many templates. */
export function splitPageLines(rows: u32, isTimed: bool): usize {
  setTimes(isTimed ? SPLIT_TIMES : 0, 0);
  const count = usize(rows);
  markVariables(usize(load<u32>(SPLIT_OFFSETS + (count << 2))));
  clearTemplates();
  memory.fill(COLUMN_ENDS, 0, 4 * (MAX_COLUMNS + 1));
  let spans: usize = 0;
  for (let row: usize = 0; row < count; row++) {
    const start = usize(load<u32>(SPLIT_OFFSETS + (row << 2)));
    const end = usize(load<u32>(SPLIT_OFFSETS + (row << 2), 4));
    let variables: usize = MAX_VARIABLES + 1;
    // Each remaining row may need a span.
    if (end - start <= MAX_VARIED_LINE && spans + MAX_VARIABLES + count - row <= MAX_SPANS) {
      variables = findVariables(start, end, spans);
    }
    let template: usize = 0;
    if (variables <= MAX_VARIABLES) {
      template = findTemplate(layLiterals(start, end, spans, variables), start, variables);
      if (template === 0 && templateCount() === MAX_TEMPLATES) return 0;
    }
    store<u16>(ROW_TEMPLATES + (row << 1), u16(template));
    if (template === 0) {
      store<u32>(SPANS + (spans << 3), u32(start));
      store<u32>(SPANS + (spans << 3), u32(end - start), 4);
      addSpan(spans++, 0);
      continue;
    }
    const piece = usize(load<u32>(TEMPLATES + template * TEMPLATE_RECORD, 12));
    for (let i: usize = 0; i < variables; i++) {
      addSpan(spans++, usize(load<u16>(PIECE_COLUMNS + ((piece + i) << 1))));
    }
  }
  sortSpans(spans);
  return writeFrame(count, packColumns());
}

// @inline
function addSpan(span: usize, column: usize): void {
  store<u16>(SPAN_COLUMNS + (span << 1), u16(column));
  const end = COLUMN_ENDS + (column << 2);
  store<u32>(end, load<u32>(end) + 1);
}

/**
 * Sorts spans by column with a counting sort. Afterward COLUMN_ENDS contains the end of each column's spans.
 */
function sortSpans(spans: usize): void {
  let total: u32 = 0;
  for (let column: usize = 0; column < columnCount(); column++) {
    const counter = COLUMN_ENDS + (column << 2);
    const own = load<u32>(counter);
    store<u32>(counter, total);
    total += own;
  }
  for (let span: usize = 0; span < spans; span++) {
    const counter = COLUMN_ENDS + (usize(load<u16>(SPAN_COLUMNS + (span << 1))) << 2);
    const to = load<u32>(counter);
    store<u32>(counter, to + 1);
    store<u64>(SORTED_SPANS + (usize(to) << 3), load<u64>(SPANS + (span << 3)));
  }
}

function packColumns(): usize {
  let out = SPLIT_OUT;
  let first: usize = 0;
  for (let column: usize = 0; column < columnCount(); column++) {
    const end = usize(load<u32>(COLUMN_ENDS + (column << 2)));
    out = packColumn(column, SORTED_SPANS + (first << 3), end - first, out);
    first = end;
  }
  return out;
}

/**
 * Writes the frame. The header contains six numbers of 4 bytes: templates without template 0, pieces, bytes
 * of texts, columns, rows, bytes of a row's template. Then follow:
 * - the number of pieces of each template (2 bytes)
 * - for each piece, the bytes of its literal, then for each piece the column after it (2 bytes each)
 * - texts and records
 * - the low bytes of all rows' templates, and the high bytes if there are more than 255 templates
 */
function writeFrame(rows: usize, at: usize): usize {
  const templates = templateCount() - 1;
  const pieces = pieceCount();
  const columns = columnCount();
  const width: usize = templates > 255 ? 2 : 1;
  frameAt = at;
  store<u32>(at, u32(templates));
  store<u32>(at, u32(pieces), 4);
  store<u32>(at, u32(templateTextBytes()), 8);
  store<u32>(at, u32(columns), 12);
  store<u32>(at, u32(rows), 16);
  store<u32>(at, u32(width), 20);
  let out = at + FRAME_HEAD;
  for (let template: usize = 1; template <= templates; template++) {
    store<u16>(out, u16(load<u32>(TEMPLATES + template * TEMPLATE_RECORD, 16) + 1));
    out += 2;
  }
  memory.copy(out, PIECE_LENGTHS, 2 * pieces);
  out += 2 * pieces;
  memory.copy(out, PIECE_COLUMNS, 2 * pieces);
  out += 2 * pieces;
  memory.copy(out, TEMPLATE_TEXT, templateTextBytes());
  out += templateTextBytes();
  memory.copy(out, COLUMN_RECORDS, columns * COLUMN_RECORD);
  out += columns * COLUMN_RECORD;
  for (let row: usize = 0; row < rows; row++) {
    const template = u32(load<u16>(ROW_TEMPLATES + (row << 1)));
    store<u8>(out + row, u8(template));
    if (width === 2) store<u8>(out + rows + row, u8(template >>> 8));
  }
  return out + width * rows;
}

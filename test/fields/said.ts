/** Fields of a line by itself, as detected fields find them. */
import { expect } from '@jest/globals';
import type { PageRows } from '../../shared/base/model/page.ts';
import type { KnownLines } from '../../shared/execution/fields/synthesized-lines.ts';
import { walkJsonPaths } from '../../shared/read/insight/detected/json-paths.ts';
import { LineParser } from '../../shared/read/insight/detected/line-parser.ts';
import { makePage, type Texts } from '../pipeline/support.ts';

interface Said {
  readonly parser: string;
  readonly fields: Texts;
  readonly paths: Record<string, readonly string[]>;
}

/** Fields of the line in a stream with these labels. */
function saidBy(line: Buffer, labels: Texts): Said {
  const parser = new LineParser();
  const page = pageOf([line], labels);
  parser.enter(page);
  const name = parser.parse(0);
  const { names, valueNames, valueCount } = parser.labels;
  const fields: Record<string, string> = {};
  for (let i = 0; i < valueCount; i++) fields[names.texts[valueNames[i]]] = parser.labels.valueText(i);
  const paths: Record<string, readonly string[]> = {};
  if (name === 'json') {
    walkJsonPaths(line, 0, line.length, {
      collides: one => one in labels,
      visit: (one, path) => {
        if (one in fields) paths[one] ??= path.slice();
        return true;
      },
    });
  }
  // A line without a field is one to either.
  return { parser: valueCount === 0 ? 'none' : name, fields, paths };
}

export function pageOf(lines: readonly (Buffer | string)[], labels: Texts): PageRows {
  return makePage(lines.map(line => ({ line, stream: labels })));
}

/**
 * Expects of each row that is known the same as of its line. How many are.
 *
 * @param base of the page's times, ns since the start of the day
 */
export function expectSameSaid(page: PageRows, found: KnownLines, labels: Texts, base = 0): number {
  let known = 0;
  for (let row = 0; row < page.rows; row++) {
    if (!found.covers(row)) continue;
    known++;
    const line = Buffer.from(page.lines.subarray(page.lineOffsets[row], page.lineOffsets[row + 1]));
    const said = saidBy(Buffer.from(found.lineOf(row, base + page.times[row])), labels);
    const text = line.toString();
    expect({ text, said }).toEqual({ text, said: saidBy(line, labels) });
  }
  return known;
}

/** The screen of `logboom view` as rows of text, each at most as wide as the terminal. What clients wrote cannot control it. */
import { visible } from '../../../shared/base/model/visible-text.ts';
import { cutCells, padCells } from '../cell-text.ts';
import type { ScreenSize } from '../standard-output.ts';
import { shownMilliseconds } from '../time-text.ts';
import { fieldsOfSelected, type ViewState } from './state.ts';

const BARS = ' ▁▂▃▄▅▆▇█';
const PROMPT = 'query> ';
const LIST_KEYS = '/ query  t tail  r run  Enter details  ←→ label  + - filter  q quit';
const QUERY_KEYS = 'Enter run  Tab complete  Esc list  Ctrl-C quit';
/** Above and below the list: query and bars; status and keys. */
const OTHER_ROWS = 4;
const MIN_LIST_ROWS = 1;

export interface ScreenRow {
  readonly text: string;
  readonly style?: 'bold' | 'dim' | 'inverse';
}

export interface Screen {
  readonly rows: readonly ScreenRow[];
  /** Column and row of the cursor, if it is shown. */
  readonly cursor: readonly [number, number] | undefined;
}

/** Rows that the list has. */
export function listRows({ hasDetails }: ViewState, { rows }: ScreenSize): number {
  const free = Math.max(MIN_LIST_ROWS, rows - OTHER_ROWS);
  return hasDetails ? Math.max(MIN_LIST_ROWS, Math.floor(free / 2)) : free;
}

export function screenOf(state: ViewState, size: ScreenSize): Screen {
  const { columns } = size;
  const list = listRows(state, size);
  const free = Math.max(MIN_LIST_ROWS, size.rows - OTHER_ROWS);
  const query = queryRow(state, columns);
  const rows: ScreenRow[] = [
    { text: query.text, style: 'bold' },
    { text: barsOf(state.counts, columns) },
    ...entryRows(state, list, columns),
    ...detailRows(state, free - list, columns),
    { text: cutCells(statusOf(state), columns), style: 'dim' },
    { text: cutCells(state.focus === 'query' ? QUERY_KEYS : LIST_KEYS, columns), style: 'dim' },
  ];
  return { rows: rows.slice(0, size.rows), cursor: state.focus === 'query' ? [query.cursor, 0] : undefined };
}

/** The end of a long query is shown as far as the cursor. */
function queryRow({ line, focus }: ViewState, columns: number): { text: string; cursor: number } {
  const room = Math.max(1, columns - PROMPT.length - 1);
  const before = visible(line.text.slice(0, line.cursor));
  const cut = focus === 'query' ? Math.max(0, before.length - room) : 0;
  const text = PROMPT + (before + visible(line.text.slice(line.cursor))).slice(cut);
  return {
    text: cutCells(text, columns),
    cursor: Math.min(columns - 1, PROMPT.length + before.length - cut),
  };
}

/** Bars over the whole width, each of the parts that come together in it. */
export function barsOf(counts: readonly number[], columns: number): string {
  if (counts.length === 0) return '';
  const bars = Math.min(counts.length, columns);
  const sums = Array.from({ length: bars }, (_, i) => {
    const from = Math.floor((i * counts.length) / bars);
    return counts.slice(from, Math.floor(((i + 1) * counts.length) / bars)).reduce((a, b) => a + b, 0);
  });
  const most = Math.max(...sums, 1);
  // A part that has anything has a bar.
  return sums.map(sum => BARS[Math.ceil((sum / most) * (BARS.length - 1))]).join('');
}

function entryRows({ entries, selected }: ViewState, rows: number, columns: number): ScreenRow[] {
  const first = Math.max(0, Math.min(selected - Math.floor(rows / 2), entries.length - rows));
  return Array.from({ length: rows }, (_, i) => {
    const entry = entries[first + i];
    if (entry === undefined) return { text: '' };
    const text = cutCells(`${shownMilliseconds(entry.timeNs)} ${visible(entry.line)}`, columns);
    return first + i === selected ? { text: padCells(text, columns), style: 'inverse' } : { text };
  });
}

function detailRows(state: ViewState, rows: number, columns: number): ScreenRow[] {
  if (rows <= 0) return [];
  const fields = fieldsOfSelected(state).map(([name, value], i): ScreenRow => {
    const text = cutCells(`  ${visible(name)} = ${visible(value)}`, columns);
    return i === state.field ? { text, style: 'inverse' } : { text };
  });
  const line = wrapped(visible(state.entries[state.selected]?.line ?? ''), columns, rows);
  const room = Math.max(1, rows - Math.min(line.length, Math.ceil(rows / 2)) - 1);
  const first = Math.max(0, Math.min(state.field - Math.floor(room / 2), fields.length - room));
  const rule: ScreenRow = { text: '─'.repeat(columns), style: 'dim' };
  const all = [rule, ...fields.slice(first, first + room), ...line.map(text => ({ text }))];
  return Array.from({ length: rows }, (_, i) => all[i] ?? { text: '' });
}

/** Maximum number of rows of the text. */
function wrapped(text: string, columns: number, rows: number): string[] {
  const lines: string[] = [];
  for (let rest = text; rest !== '' && lines.length < rows; ) {
    const cut = cutCells(rest, columns);
    const taken = cut === rest ? rest : rest.slice(0, Math.max(1, cut.length - 1));
    lines.push(taken);
    rest = rest.slice(taken.length);
  }
  return lines;
}

function statusOf({ words, message, isBusy, isTailing, entries, selected }: ViewState): string {
  if (words.length > 0) return words.map(visible).join('  ');
  if (message !== '') return visible(message);
  if (isBusy) return 'running ...';
  const position = entries.length === 0 ? 'no entries' : `entry ${selected + 1} of ${entries.length}`;
  return isTailing ? `live  ${position}` : position;
}

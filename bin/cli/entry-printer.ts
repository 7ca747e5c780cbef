/**
 * Formats entries page by page in every output format. A table has a column for each label that is not
 * common. A later page may need other columns, so it gets its own heading. Widths only grow, so that pages
 * line up.
 */
import {
  commonLabels,
  entryText,
  type LabelObject,
  labelText,
  type Output,
  ownLabels,
} from './answer-text.ts';
import { NO_PAINT, type Paint } from './paint.ts';
import type { PrintedEntry } from './range-query.ts';
import { alignedText, csvText, type TextTable } from './table-text.ts';
import { shownMilliseconds, shownNanoseconds } from './time-text.ts';
import type { TimeText } from './timestamp-formats.ts';

interface EntryPrinterOptions {
  readonly output: Output;
  readonly paint?: Paint;
  /** Maximum width of a table line, cells. */
  readonly maxCells?: number;
  readonly labels?: LabelView;
  /** Timestamps of `default` output. Default: RFC 3339 with milliseconds. */
  readonly timeText?: TimeText;
}

/** Selects the labels that are printed with an entry. */
export interface LabelView {
  /** Names of the only labels to print, with each entry, even if all entries share them. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Prints no labels at all. */
  readonly none?: boolean;
  /** Prints common labels with each entry. */
  readonly keepCommon?: boolean;
  /** Minimum width of the labels in `default` output, cells. */
  readonly width?: number;
}

const CSV_COLUMNS = [{ name: 'timestamp' }, { name: 'labels' }, { name: 'line' }];

export class EntryPrinter {
  readonly #options: EntryPrinterOptions;
  #common: LabelObject | undefined;
  #names = '';
  #widths: number[] = [];
  #pages = 0;
  #lastLabels: LabelObject | undefined;
  #lastShown: LabelObject = {};

  constructor(options: EntryPrinterOptions) {
    this.#options = options;
  }

  /**
   * Labels that all entries of the first page share; they are printed once and omitted from each line.
   * Undefined if there are none, or if the format prints all labels with each entry.
   */
  shareLabels(entries: readonly PrintedEntry[]): string | undefined {
    const { output, labels: view = {} } = this.#options;
    if (this.#common !== undefined || (output !== 'default' && output !== 'table')) return undefined;
    if (view.none || view.keepCommon || view.include?.length) return undefined;
    this.#common = commonLabels(entries.map(entry => this.#viewed(entry).labels));
    return Object.keys(this.#common).length === 0 ? undefined : labelText(this.#common);
  }

  text(found: readonly PrintedEntry[]): string {
    const { output, paint = NO_PAINT, labels: view = {}, timeText } = this.#options;
    const entries = found.map(entry => this.#viewed(entry));
    const isFirst = this.#pages++ === 0;
    if (output === 'table') return this.#tableText(entries);
    if (output === 'csv')
      return csvText(
        { columns: CSV_COLUMNS, rows: entries.map(csvRow) },
        { heading: isFirst, shown: paint.given },
      );
    let text = '';
    for (const entry of entries)
      text += entryText(entry, output, {
        common: this.#common,
        paint,
        labelCells: view.width,
        hasLabels: !view.none,
        timeText,
      });
    return text;
  }

  /** The entry with the labels that are printed. Entries of one stream share the label object. */
  #viewed(entry: PrintedEntry): PrintedEntry {
    const { include = [], exclude = [], none } = this.#options.labels ?? {};
    if (!none && include.length === 0 && exclude.length === 0) return entry;
    if (entry.labels !== this.#lastLabels) {
      this.#lastLabels = entry.labels;
      this.#lastShown = Object.fromEntries(
        Object.entries(entry.labels).filter(
          ([name]) => !none && (include.length === 0 || include.includes(name)) && !exclude.includes(name),
        ),
      );
    }
    return { ...entry, labels: this.#lastShown };
  }

  #tableText(entries: readonly PrintedEntry[]): string {
    if (entries.length === 0) return '';
    const own = entries.map(({ labels }) => ownLabels(labels, this.#common ?? {}));
    const names = [...new Set(own.flatMap(labels => Object.keys(labels)))].sort();
    const key = JSON.stringify(names);
    const heading = key !== this.#names;
    if (heading) this.#widths = [];
    this.#names = key;
    const table: TextTable = {
      columns: ['time', ...names, 'line'].map(name => ({ name })),
      rows: entries.map(({ timeNs, line }, i) => [
        shownMilliseconds(timeNs),
        ...names.map(name => (Object.hasOwn(own[i], name) ? own[i][name] : null)),
        line,
      ]),
    };
    return alignedText(table, { heading, widths: this.#widths, maxCells: this.#options.maxCells });
  }
}

function csvRow({ timeNs, labels, line }: PrintedEntry): [string, string, string] {
  return [shownNanoseconds(timeNs), labelText(labels), line];
}

/**
 * Host side of assembly/field-members.ts and of the modules that it calls: finds the members of a page's
 * lines. Extractors of a thread share one scanner and take turns; each page adds its keys.
 *
 *     scanner.begin(lines, keys);
 *     scanner.read(lineOffsets, 0, rows, parserOf);
 *     const { json, logfmt } = scanner.end();
 */
import { FieldCellReader, type KeyMembers, type PackedCodes, type ScannedCells } from './field-cells.ts';
import { FieldValues } from './field-values.ts';
import { type Constant, endOfCall, KernelInstance, memoryWords } from './kernels.ts';
import type { TermSet } from './term-set.ts';

/** Maximum bytes of lines per call; a longer line gets a separate call. */
const MAX_CALL_BYTES = 2 * 1024 * 1024;
/** Padding after the lines, because loads of 64 bytes may begin at the last byte. */
const SLACK_BYTES = 128;

/** Members of a page's lines for one parser, in columns. */
export interface LineMembers {
  readonly count: number;
  /** Key number of each member. */
  readonly entries: Uint32Array;
  readonly rows: Uint32Array;
  /** Range of each value in the page's lines. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly kinds: Uint8Array;
  /** Members by key: those of key e are `order[first[e]]` to `order[first[e + 1] - 1]`, in row order. */
  readonly first: Uint32Array;
  readonly order: Uint32Array;
}

/** Keys of one parser, numbered from 0. */
export interface KeyList {
  readonly texts: readonly Uint8Array[];
  /** For each key: 1 + number of the key of the surrounding object, or 0 at the top. */
  readonly parents: readonly number[];
  /** For each key: sum of LEFT_TO_PARSER and UNWANTED. */
  readonly flags: readonly number[];
  /** Adds the next key. */
  add(text: Buffer, parent: number): void;
}

/** Key flag: the parser must handle lines with this key. */
export const LEFT_TO_PARSER = 1;
/** Key flag: members with this key are skipped. */
export const UNWANTED = 2;

export type FieldParser = 'json' | 'logfmt';

interface FieldKernel {
  readonly FIELD_LINES: Constant;
  readonly FIELD_OFFSETS: Constant;
  readonly FIELD_PARSERS: Constant;
  readonly JSON_KEYS: Constant;
  readonly JSON_MEMBERS: Constant;
  readonly KEY_WORDS: Constant;
  readonly LOGFMT_KEYS: Constant;
  readonly LOGFMT_MEMBERS: Constant;
  readonly MAX_FIELD_LINE: Constant;
  readonly MAX_CELL_TEXT: Constant;
  readonly MAX_FIELD_ROWS: Constant;
  readonly CELL_TEXT: Constant;
  readonly MEMBER_ENDS: Constant;
  readonly MEMBER_ENTRIES: Constant;
  readonly MEMBER_FIRST: Constant;
  readonly MEMBER_KINDS: Constant;
  readonly MEMBER_ORDER: Constant;
  readonly MEMBER_ROWS: Constant;
  readonly MEMBER_STARTS: Constant;
  readonly VALUE_TERMS: Constant;
  addFieldKey(table: number, length: number, parent: number): void;
  clearFieldKeys(table: number): void;
  clearMembers(): void;
  makeValueTerms(list: number, from: number, to: number, firstByte: number): number;
  readFields(rows: number, firstByte: number, firstRow: number, parsers: number): void;
  sortFields(): void;
}

type FieldKeys = Readonly<Record<FieldParser, KeyList>>;

const PARSERS = ['json', 'logfmt'] as const;
/** Parser numbers in the kernel, also used to mark lines. */
const MARKS = { json: 1, logfmt: 2, both: 3 } as const;

/** Returns the text of an escaped value of the lines, or undefined if it is not valid. */
export type ReadEscaped = (
  parser: FieldParser,
  source: Buffer,
  start: number,
  end: number,
) => string | undefined;

/** Cells of a key with the codes of its rows. */
export type CodedCells = ScannedCells & { readonly codes: Uint32Array; readonly fallbackRows: number };

/** Rows of the page, and the limit of a column. */
interface CellLimits {
  readonly parserOf: Uint8Array;
  readonly rows: number;
  /** Number of rows that may be left to the parser. */
  readonly maxFallbackRows: number;
}

/** Lines of one call, and the members found in them. */
interface ScanCall {
  readonly firstByte: number;
  readonly endByte: number;
  readonly members: Readonly<Record<FieldParser, { readonly from: number; readonly to: number }>>;
}

/** Range of the page's lines. */
interface LoadedLines {
  readonly firstByte: number;
  readonly endByte: number;
}

/** Pitfall: results are valid until the next page begins, whichever extractor begins it. */
export class FieldScanner {
  readonly #instance: KernelInstance<FieldKernel>;
  readonly #run: FieldKernel;
  readonly #keyTables: Readonly<Record<FieldParser, number>>;
  readonly #lists: Readonly<Record<FieldParser, number>>;
  #lines: Uint8Array = new Uint8Array(0);
  #keys: FieldKeys | undefined;
  #parsers = MARKS.both as number;
  #calls: ScanCall[] = [];
  #values: FieldValues | undefined;
  readonly #cells: FieldCellReader;
  /** Lines that are still in the kernel's memory. */
  #loaded: LoadedLines | undefined;
  #readEscaped: ReadEscaped = () => undefined;

  constructor() {
    const unescapeValue = (list: number, start: number, length: number) =>
      this.#unescapeValue(list, start, length);
    const nameKey = (table: number, number: number, start: number, length: number, parent: number) =>
      this.#nameKey(table, number, start, length, parent);
    this.#instance = new KernelInstance<FieldKernel>({ nameKey, unescapeValue });
    const { run } = this.#instance;
    this.#run = run;
    this.#keyTables = { json: run.JSON_KEYS.value, logfmt: run.LOGFMT_KEYS.value };
    this.#lists = { json: run.JSON_MEMBERS.value, logfmt: run.LOGFMT_MEMBERS.value };
    this.#cells = new FieldCellReader(this.#instance);
    this.#instance.reserve(this.memoryBytes(0));
  }

  /** Returns the memory that the kernel uses for this many bytes of lines, bytes. */
  memoryBytes(lineBytes: number): number {
    return this.#run.FIELD_LINES.value + lineBytes + SLACK_BYTES;
  }

  /**
   * Begins a page.
   *
   * @param keys Known keys; the keys of the page are added
   * @param parser Only parser to use; both if absent
   */
  begin(lines: Uint8Array, keys: FieldKeys, parser?: FieldParser): void {
    const run = this.#run;
    this.#lines = lines;
    this.#keys = keys;
    this.#parsers = MARKS[parser ?? 'both'];
    this.#calls = [];
    this.#loaded = undefined;
    run.clearMembers();
    for (const parser of PARSERS) {
      run.clearFieldKeys(this.#keyTables[parser]);
      const { texts, parents } = keys[parser];
      for (const [i, text] of texts.entries()) {
        this.#instance.bytes.set(text, run.FIELD_LINES.value);
        run.addFieldKey(this.#keyTables[parser], text.length, parents[i]);
      }
    }
  }

  #nameKey(table: number, number: number, start: number, length: number, parent: number): number {
    const keys = this.#keys![table === this.#keyTables.json ? 'json' : 'logfmt'];
    if (number === keys.texts.length) keys.add(this.#instance.bytes.subarray(start, start + length), parent);
    return keys.flags[number];
  }

  /**
   * Reads the lines of rows `from` to `to`. Sets `parserOf` of each row: 1 if the line is valid JSON, 2 if it
   * is valid logfmt, else 0.
   */
  read(lineOffsets: Uint32Array, from: number, to: number, parserOf: Uint8Array): void {
    const { FIELD_OFFSETS, FIELD_PARSERS, MAX_FIELD_LINE, MAX_FIELD_ROWS } = this.#run;
    const limits = { maxRows: MAX_FIELD_ROWS.value, maxBytes: MAX_CALL_BYTES };
    for (let row = from; row < to; ) {
      const first = row;
      const firstByte = lineOffsets[first];
      row = Math.max(row + 1, endOfCall(lineOffsets, first, to, limits));
      const bytes = lineOffsets[row] - firstByte;
      if (bytes > Math.max(MAX_CALL_BYTES, MAX_FIELD_LINE.value)) {
        parserOf[first] = 0;
        continue;
      }
      const before = this.#counts();
      this.#load({ firstByte, endByte: lineOffsets[row] });
      const { words, bytes: memory } = this.#instance;
      words.set(lineOffsets.subarray(first, row + 1), FIELD_OFFSETS.value >>> 2);
      this.#run.readFields(row - first, firstByte, first, this.#parsers);
      const parsers = FIELD_PARSERS.value;
      parserOf.set(memory.subarray(parsers, parsers + row - first), first);
      const now = this.#counts();
      const members = {
        json: { from: before.json, to: now.json },
        logfmt: { from: before.logfmt, to: now.logfmt },
      };
      this.#calls.push({ firstByte, endByte: lineOffsets[row], members });
    }
  }

  #load({ firstByte, endByte }: LoadedLines): void {
    this.#instance.reserve(this.memoryBytes(endByte - firstByte));
    this.#instance.bytes.set(this.#lines.subarray(firstByte, endByte), this.#run.FIELD_LINES.value);
    this.#loaded = { firstByte, endByte };
  }

  #holds({ firstByte, endByte }: LoadedLines): boolean {
    return this.#loaded?.firstByte === firstByte && this.#loaded.endByte === endByte;
  }

  #counts(): Record<FieldParser, number> {
    const { words } = this.#instance;
    return { json: words[this.#lists.json >>> 2], logfmt: words[this.#lists.logfmt >>> 2] };
  }

  /** Ends a page and returns its members. */
  end(): Readonly<Record<FieldParser, LineMembers>> {
    this.#run.sortFields();
    // Cells need all lines of the page. Loading them later could grow the memory, which detaches the members.
    const [first, last] = [this.#calls[0], this.#calls.at(-1)];
    if (last !== undefined && first !== last) {
      const range = { firstByte: first.firstByte, endByte: last.endByte };
      if (range.endByte - range.firstByte <= this.#run.MAX_FIELD_LINE.value) this.#load(range);
    }
    return { json: this.#membersOf('json'), logfmt: this.#membersOf('logfmt') };
  }

  /**
   * The values of the fields of the page, after it ends. Undefined if its lines were not read in one call.
   *
   * Pitfall: call it before `end`, because it may enlarge the memory.
   */
  values(): FieldValues | undefined {
    const [call] = this.#calls;
    if (this.#calls.length !== 1 || !this.#holds(call)) return undefined;
    this.#values ??= new FieldValues(this.#instance);
    this.#values.begin(call.firstByte, call.endByte);
    return this.#values;
  }

  /**
   * Returns the cells of a key of the page, after it ended. Undefined if it has too many values that are no numbers, or if too
   * many rows are left to the parser.
   *
   * @param others Keys with the same name: their rows are left to the parser
   */
  cells(
    parser: FieldParser,
    key: number,
    others: readonly number[],
    { parserOf, rows, maxFallbackRows }: CellLimits,
    readEscaped: ReadEscaped,
  ): CodedCells | undefined {
    const firstByte = this.#firstByteOfCells();
    if (firstByte === undefined || rows > this.#run.MAX_FIELD_ROWS.value) return undefined;
    this.#readEscaped = readEscaped;
    const reader = this.#cells;
    const found = reader.read(this.#keyMembers(parser, key), MARKS[parser], { parserOf, rows, firstByte });
    if (found === undefined) return undefined;
    for (const other of others) reader.leaveRows(this.#keyMembers(parser, other));
    const { fallbackRows } = reader;
    return fallbackRows > maxFallbackRows ? undefined : { ...found, codes: reader.codes, fallbackRows };
  }

  /** Packs the codes of the rows of a page; see `FieldCellReader`. */
  packCodes(codes: Uint32Array, bytesOf: (used: number) => number): PackedCodes {
    return this.#cells.pack(codes, bytesOf);
  }

  /**
   * Returns the number of distinct values of a key of the page, Infinity if a dictionary cannot hold them, and 0 if that
   * is unknown. Values with escapes, and long ones, do not count.
   */
  distinctValues(parser: FieldParser, key: number): number {
    const firstByte = this.#firstByteOfCells();
    return firstByte === undefined ? 0 : this.#cells.distinctValues(this.#keyMembers(parser, key), firstByte);
  }

  /** Returns the start of the lines in memory, or undefined if these are not all lines of the page. */
  #firstByteOfCells(): number | undefined {
    const loaded = this.#loaded;
    const isWhole =
      this.#calls.length > 0 &&
      loaded?.firstByte === this.#calls[0].firstByte &&
      loaded.endByte === this.#calls.at(-1)!.endByte;
    return isWhole ? loaded.firstByte : undefined;
  }

  #keyMembers(parser: FieldParser, key: number): KeyMembers {
    const list = this.#lists[parser];
    const [from, to] = memoryWords(
      this.#instance,
      { value: list + this.#run.MEMBER_FIRST.value + 4 * key },
      2,
    );
    return { list, from, to };
  }

  #unescapeValue(list: number, start: number, length: number): number {
    const { bytes } = this.#instance;
    const parser = list === this.#lists.json ? 'json' : 'logfmt';
    const text = this.#readEscaped(parser, bytes, start, start + length);
    const { CELL_TEXT, MAX_CELL_TEXT } = this.#run;
    if (text === undefined || Buffer.byteLength(text) > MAX_CELL_TEXT.value) return -1;
    return bytes.write(text, CELL_TEXT.value);
  }

  #membersOf(parser: FieldParser): LineMembers {
    const list = this.#lists[parser];
    const count = this.#counts()[parser];
    const keys = this.#keys![parser].texts.length;
    const {
      MEMBER_ENDS,
      MEMBER_ENTRIES,
      MEMBER_FIRST,
      MEMBER_KINDS,
      MEMBER_ORDER,
      MEMBER_ROWS,
      MEMBER_STARTS,
    } = this.#run;
    const { words, bytes } = this.#instance;
    const column = ({ value }: Constant, length: number) =>
      words.subarray((list + value) >>> 2, ((list + value) >>> 2) + length);
    return {
      count,
      entries: column(MEMBER_ENTRIES, count),
      rows: column(MEMBER_ROWS, count),
      starts: column(MEMBER_STARTS, count),
      ends: column(MEMBER_ENDS, count),
      kinds: bytes.subarray(list + MEMBER_KINDS.value, list + MEMBER_KINDS.value + count),
      first: column(MEMBER_FIRST, keys + 1),
      order: column(MEMBER_ORDER, count),
    };
  }

  /**
   * Adds the terms of the page's values without escapes.
   *
   * @param words Hash word of each key's name
   */
  addValueTerms(parser: FieldParser, words: Uint32Array, found: TermSet): void {
    const { KEY_WORDS, VALUE_TERMS } = this.#run;
    this.#instance.words.set(words, KEY_WORDS.value >>> 2);
    for (const call of this.#calls) {
      const { from, to } = call.members[parser];
      if (from === to) continue;
      const range = this.#loaded;
      const isLoaded = range && call.firstByte >= range.firstByte && call.endByte <= range.endByte;
      if (!isLoaded) this.#load(call);
      const count = this.#run.makeValueTerms(this.#lists[parser], from, to, this.#loaded!.firstByte);
      const at = VALUE_TERMS.value >>> 2;
      found.addAll(this.#instance.words.subarray(at, at + count));
    }
  }
}

let ofThread: FieldScanner | undefined;

export function fieldScannerOfThread(): FieldScanner {
  ofThread ??= new FieldScanner();
  return ofThread;
}

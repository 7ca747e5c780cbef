/**
 * Residual fields: field values of a page's lines that no field column stores. With them, all fields of every
 * line are stored, so that detected fields are found without reading the lines. Each row has a text
 * (residual-text.ts) of its fields without a column, mostly empty.
 *
 * Residual fields are stored only if few rows have such fields or few distinct texts occur. Values that
 * differ in every line, such as IDs, would need as many bytes as in the lines.
 *
 * Pitfall: the order of the members is preserved. If one member of a name is residual, all members of that
 * name are. A column treats the row as a fallback in the same case. The parser thus still decides which of
 * two fields of one name counts. Nulls, objects and arrays are not fields, and may be omitted.
 */
import { fieldScannerOfThread } from '../../base/kernels/field-scanner.ts';
import { OPEN_BRACE, skipSpace } from '../../base/text/json-scan.ts';
import { jsonStringValue, sanitizeName, unquoteLogfmt } from '../../base/text/text.ts';
import {
  MAX_DICTIONARY_BYTES,
  MAX_DICTIONARY_VALUES,
  MAX_KEY_BYTES,
  MAX_LINE_FIELDS,
  MAX_RESIDUAL_BYTES,
} from '../../storage/columns/bounds.ts';
import { type DictionaryCells, FALLBACK_CODE, FIRST_CODE } from '../../storage/columns/column-cells.ts';
import { countOf } from '../../storage/columns/field-cells.ts';
import {
  JSON_ROW,
  LOGFMT_ROW,
  type PageFields,
  type ParserFields,
  type ParserName,
} from '../../storage/columns/field-extractor.ts';
import { ESCAPED, VALUE } from '../../storage/columns/line-members.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import { textListOf } from '../../storage/columns/text-list.ts';
import { FAULT, LINE_END, LogfmtDecoder } from '../pipeline/logfmt-decoder.ts';
import { KIND_CLEAN } from '../pipeline/row-labels.ts';
import {
  lineOfMembers,
  type MemberForm,
  markTime,
  memberForm,
  memberText,
  separatorOf,
} from './residual-text.ts';

const EQUALS = 0x3d;

interface ResidualSources {
  readonly page: PageFields;
  /** `rows + 1` offsets into the page's lines, bytes. */
  readonly lineOffsets: Uint32Array;
  /** Returns the codes of the entry's column by row, or undefined if it has no column. */
  codesOf(parser: ParserName, entry: number): Uint32Array | undefined;
  /** Time of each row, ns since the start of the day; undefined if unknown. */
  readonly times: ArrayLike<number> | undefined;
  /** Maximum share of rows that may be left to the parser. */
  readonly maxUnknownShare: number;
}

/** Returns cells of a dictionary, or undefined if the texts are too many, too long, or too often unknown. */
export function encodeResiduals(sources: ResidualSources): DictionaryCells | undefined {
  const { page, lineOffsets, codesOf, times, maxUnknownShare } = sources;
  const { lines, rows, parserOf } = page;
  if ([page.json, page.logfmt].some(fields => hasManyTexts(fields, sources))) return undefined;
  const sides = {
    json: new SideResiduals(page.json, lines, entry => codesOf('json', entry)),
    logfmt: new SideResiduals(page.logfmt, lines, entry => codesOf('logfmt', entry)),
  };
  const others = new OtherResiduals(lines);
  const texts = new ResidualTable();
  const codes = new Uint32Array(rows);
  const mostUnknown = rows * maxUnknownShare;
  let fallbackRows = 0;
  for (let row = 0; row < rows; row++) {
    const parser = parserOf[row];
    let residual: string | undefined;
    if (parser === JSON_ROW) residual = sides.json.residualOf(row);
    else if (parser === LOGFMT_ROW) residual = sides.logfmt.residualOf(row);
    else residual = others.residualOf(lineOffsets[row], lineOffsets[row + 1]);
    if (residual === '') continue;
    if (residual !== undefined && times !== undefined) residual = markTime(residual, times[row]);
    if (residual === undefined || residual.length > MAX_RESIDUAL_BYTES) {
      codes[row] = FALLBACK_CODE;
      if (++fallbackRows > mostUnknown) return undefined;
      continue;
    }
    const index = texts.indexOf(residual);
    if (index < 0) return undefined;
    codes[row] = FIRST_CODE + index;
  }
  return { kind: 'dictionary', codes, values: textListOf(texts.values), fallbackRows };
}

/**
 * Returns whether the residual texts are too many or too large for their dictionary, as far as that is known
 * without building them. Either a field without a column has that many values itself, as IDs do. Or its values
 * differ in all rows, so that the texts differ too, and the dictionary would need the bytes of all of them.
 */
function hasManyTexts(fields: ParserFields, { page, codesOf, times }: ResidualSources): boolean {
  const { parser, rows, table } = fields;
  const scanner = fieldScannerOfThread();
  let differ = false;
  let bytes = 0;
  for (let entry = 0; entry < table.count; entry++) {
    const count = countOf(fields, entry);
    if (table.names[entry] === '' || count === 0 || codesOf(parser, entry) !== undefined) continue;
    // The times of entries take the same text.
    if (times !== undefined && containsTime(page.lines, fields, entry, times)) continue;
    const distinct = scanner.distinctValues(parser, entry);
    if (distinct === Infinity) return true;
    differ ||= distinct === rows;
    bytes += plainBytesOf(fields, entry);
  }
  return differ && bytes > MAX_DICTIONARY_BYTES;
}

/** Returns the bytes of an entry's values without escapes. */
function plainBytesOf({ members }: ParserFields, entry: number): number {
  const { first, order, starts, ends, kinds } = members;
  let bytes = 0;
  for (let i = first[entry]; i < first[entry + 1]; i++) {
    const member = order[i];
    if (kinds[member] === VALUE) bytes += ends[member] - starts[member];
  }
  return bytes;
}

/** Number of values to check whether a field contains the time of the entry. */
const LOOKED_AT = 4;

/**
 * Returns whether the first values of the field contain the times of their rows. Such a field is smaller in
 * residual texts than as a column.
 */
export function containsTime(
  lines: Buffer,
  { members }: ParserFields,
  entry: number,
  times: ArrayLike<number>,
): boolean {
  const { first, order } = members;
  const from = first[entry];
  const to = Math.min(first[entry + 1], from + LOOKED_AT);
  for (let i = from; i < to; i++) {
    const member = order[i];
    if (members.ends[member] - members.starts[member] > MAX_RESIDUAL_BYTES) return false;
    const text = lines.utf8Slice(members.starts[member], members.ends[member]);
    if (markTime(text, times[members.rows[member]]) === text) return false;
  }
  return to > from;
}

class ResidualTable {
  readonly values: Buffer[] = [];
  readonly #indexes = new Map<string, number>();
  #bytes = 0;

  /** Returns the number of a text, or -1 if the table is full. */
  indexOf(text: string): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text);
    this.#bytes += bytes.length;
    if (this.values.length === MAX_DICTIONARY_VALUES || this.#bytes > MAX_DICTIONARY_BYTES) return -1;
    this.#indexes.set(text, this.values.length);
    return this.values.push(bytes) - 1;
  }
}

/** Residual texts of the lines that are valid for one parser, requested row by row in ascending order. */
class SideResiduals {
  readonly #fields: ParserFields;
  readonly #lines: Buffer;
  readonly #codesOf: (entry: number) => Uint32Array | undefined;
  /** Cached properties of each entry that occurred. */
  readonly #entries: (EntryResiduals | undefined)[] = [];
  #next = 0;

  constructor(fields: ParserFields, lines: Buffer, codesOf: (entry: number) => Uint32Array | undefined) {
    this.#fields = fields;
    this.#lines = lines;
    this.#codesOf = codesOf;
  }

  /** Returns the text, '' if columns store the whole line, or undefined if the line must be parsed. */
  residualOf(row: number): string | undefined {
    const { members, parser } = this.#fields;
    const { rows, entries, kinds, starts, ends, count } = members;
    const texts: string[] = [];
    let isKnown = true;
    for (; this.#next < count && rows[this.#next] <= row; this.#next++) {
      const member = this.#next;
      const kind = kinds[member];
      if (kind !== VALUE && kind !== ESCAPED) continue;
      const { codes, form, isClear } = this.#entryOf(entries[member]);
      if (!isClear) isKnown = false;
      if (!isKnown || form === undefined) continue;
      if (codes !== undefined && codes[row] !== FALLBACK_CODE) continue;
      const text = textOf(parser, kind === VALUE, this.#lines, starts[member], ends[member]);
      if (text === undefined) isKnown = false;
      // For logfmt, an empty value means no value.
      else if (text !== '' || parser === 'json') texts.push(memberText(form, text));
    }
    if (!isKnown) return undefined;
    return texts.length === 0 ? '' : lineOfMembers(parser, texts.join(separatorOf(parser)));
  }

  #entryOf(entry: number): EntryResiduals {
    return (this.#entries[entry] ??= this.#lookAt(entry));
  }

  #lookAt(entry: number): EntryResiduals {
    const { table, parser } = this.#fields;
    const name = table.names[entry];
    const path = table.paths[entry];
    // An ignored key sets no field.
    if (name === '') return { codes: undefined, form: undefined, isClear: true };
    const isClear = isClearName(name) && path.every(key => isClearKey(parser, key));
    return { codes: this.#codesOf(entry), form: memberForm(parser, path), isClear };
  }
}

interface EntryResiduals {
  readonly codes: Uint32Array | undefined;
  /** Undefined if the entry is not a field. */
  readonly form: MemberForm | undefined;
  /** False if the effect of the entry depends on the rest of its line. */
  readonly isClear: boolean;
}

/**
 * Returns whether the name always belongs to this field. A suffixed name may come from another field in
 * streams with a label of that name, and the order of all members then counts.
 */
function isClearName(name: string): boolean {
  return !isReservedName(name) && !isSuffixedName(name);
}

/**
 * Returns whether the key has the same meaning in another line. A logfmt key must not look like JSON, or like
 * more than a key.
 */
function isClearKey(parser: ParserName, key: string): boolean {
  if (key.includes('\ufffd')) return false;
  return parser === 'json' || (key !== '' && key[0] !== '{' && !ENDS_KEY.test(key));
}

const ENDS_KEY = /[\u0000-\u0020="\\]/;

/** Returns the value as the parser shows it, or undefined if it is invalid. */
function textOf(
  parser: ParserName,
  isPlain: boolean,
  lines: Buffer,
  start: number,
  end: number,
): string | undefined {
  if (end - start > MAX_RESIDUAL_BYTES) return undefined;
  const written = lines.utf8Slice(start, end);
  if (written.includes('\ufffd')) return undefined;
  if (isPlain) return written;
  const text = parser === 'json' ? jsonStringValue(lines, start, end) : unquoteLogfmt(lines, start, end);
  // The parser returns an empty text for an invalid JSON string; a string that is really empty has no
  // escapes.
  return text === '' || text?.includes('\ufffd') ? undefined : text;
}

/**
 * Residual texts of lines that are valid for neither parser, requested in order. Lines that begin with a
 * brace are left to the parsers, because only they interpret broken JSON. Other lines are not JSON, and have
 * the fields that logfmt finds in them, mostly none.
 */
class OtherResiduals {
  readonly #lines: Buffer;
  readonly #decoder = new LogfmtDecoder();
  /** Offset of the next equals sign, because lines without one need no decoding. */
  #equals = -1;

  constructor(lines: Buffer) {
    this.#lines = lines;
  }

  residualOf(start: number, end: number): string | undefined {
    const first = skipSpace(this.#lines, start, end);
    if (first === end) return '';
    if (this.#lines[first] === OPEN_BRACE) return undefined;
    return this.#hasEquals(start, end) ? this.#decode(start, end) : '';
  }

  #hasEquals(start: number, end: number): boolean {
    if (this.#equals < start) {
      const found = this.#lines.indexOf(EQUALS, start);
      this.#equals = found < 0 ? Infinity : found;
    }
    return this.#equals < end;
  }

  #decode(start: number, end: number): string | undefined {
    const decoder = this.#decoder;
    decoder.reset(this.#lines, start, end);
    const texts: string[] = [];
    for (;;) {
      const outcome = decoder.next();
      if (outcome === LINE_END) return lineOfMembers('logfmt', texts.join(separatorOf('logfmt')));
      if (outcome === FAULT) continue;
      const { keyStart, keyEnd, valueStart, valueEnd, valueKind } = decoder;
      if (valueStart === valueEnd) continue;
      if (texts.length === MAX_LINE_FIELDS || keyEnd - keyStart > MAX_KEY_BYTES) return undefined;
      const key = this.#lines.utf8Slice(keyStart, keyEnd);
      if (!isClearKey('logfmt', key) || !isClearName(sanitizeName('', key))) return undefined;
      const text = textOf('logfmt', valueKind === KIND_CLEAN, this.#lines, valueStart, valueEnd);
      if (text === undefined) return undefined;
      texts.push(memberText(memberForm('logfmt', [key]), text));
    }
  }
}

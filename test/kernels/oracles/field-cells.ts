/** Cells of one field of a page, computed plainly: what assembly/field-cells.ts finds. Texts are latin1, so that each byte counts. */
import type { FieldParser, LineMembers, ReadEscaped } from '../../../shared/base/kernels/field-scanner.ts';
import { ESCAPED, NOTHING, STRUCTURE } from '../../../shared/storage/columns/line-members.ts';
import { ShapeTable } from '../../../shared/storage/columns/number-text.ts';

export type PlainCells = { readonly codes: readonly number[] } & (
  | { readonly kind: 'dictionary'; readonly values: readonly string[] }
  | {
      readonly kind: 'number';
      readonly mantissas: readonly number[];
      readonly shapes: readonly string[];
      readonly texts: readonly string[];
    }
);

interface Source {
  readonly lines: Buffer;
  readonly rows: number;
  readonly parserOf: Uint8Array;
  readonly parser: FieldParser;
  readonly members: LineMembers;
  readonly readEscaped: ReadEscaped;
}

/** What a row has: no value that a column holds, or bytes, which may be those of a number. */
interface Member {
  readonly row: number;
  readonly text: Buffer | undefined;
  readonly isEscaped: boolean;
}

export function plainCells(source: Source, key: number, others: readonly number[]): PlainCells | undefined {
  const { parserOf, rows, parser, members } = source;
  const mark = parser === 'json' ? 1 : 2;
  const codes = Array.from({ length: rows }, (_, row) => (parserOf[row] === mark ? 0 : 1));
  const cells = withValues(source, key, [...codes]) ?? withNumbers(source, key, [...codes]);
  if (cells === undefined) return undefined;
  const left = new Set(
    others.flatMap(other => [...members.order.subarray(members.first[other], members.first[other + 1])]),
  );
  for (const member of left) cells.codes[members.rows[member]] = 1;
  return cells;
}

/** Members whose row has no other one before, without nulls; sets the codes of objects, arrays and doubled keys. */
function membersOf({ lines, parser, members, readEscaped }: Source, key: number, codes: number[]): Member[] {
  const found: Member[] = [];
  for (let i = members.first[key]; i < members.first[key + 1]; i++) {
    const at = members.order[i];
    const [row, kind, start, end] = [
      members.rows[at],
      members.kinds[at],
      members.starts[at],
      members.ends[at],
    ];
    const isDouble = i > members.first[key] && members.rows[members.order[i - 1]] === row;
    if (isDouble || kind === STRUCTURE) {
      // The last code counts: a double comes after its row's value.
      found.push({ row, text: undefined, isEscaped: false });
      codes[row] = 1;
      continue;
    }
    if (kind === NOTHING) continue;
    const isEscaped = kind === ESCAPED;
    const read = isEscaped ? readEscaped(parser, lines, start, end) : undefined;
    const escaped = read === undefined ? undefined : Buffer.from(read);
    const bytes = isEscaped ? escaped : lines.subarray(start, end);
    const isSound = end - start <= 128 && bytes !== undefined && !bytes.toString('utf8').includes('\ufffd');
    found.push({ row, text: isSound ? bytes : undefined, isEscaped });
  }
  return found;
}

type Own<Kind> = Extract<PlainCells, { readonly kind: Kind }> & { readonly codes: number[] };

function withValues(source: Source, key: number, codes: number[]): Own<'dictionary'> | undefined {
  const numbers = new Map<string, number>();
  let bytes = 0;
  const seen = new Set<number>();
  let cells = 0;
  for (const { row, text } of membersOf(source, key, codes)) {
    const isRepeated = seen.has(row);
    seen.add(row);
    const own = text?.latin1Slice();
    if (own !== undefined && !numbers.has(own)) {
      bytes += own.length;
      if (numbers.size === 1024 || bytes > 32 * 1024) return undefined;
      numbers.set(own, numbers.size);
    }
    codes[row] = own === undefined ? 1 : 2 + numbers.get(own)!;
    if (isRepeated || isStructure(source, key, row)) continue;
    if (++cells === 256 && numbers.size > 192) return undefined;
  }
  const values = [...numbers.keys()];
  if (values.length > 256) {
    const shapes = new ShapeTable();
    const others = values.filter(value => shapes.read(Buffer.from(value, 'latin1'), 0, value.length) < 0);
    if (others.length * 16 <= values.length) return undefined;
  }
  return { kind: 'dictionary', codes, values };
}

function withNumbers(source: Source, key: number, codes: number[]): Own<'number'> | undefined {
  const table = new ShapeTable();
  const mantissas = codes.map(() => 0);
  const texts: string[] = [];
  const seen = new Set<number>();
  let cells = 0;
  for (const { row, text, isEscaped } of membersOf(source, key, codes)) {
    const isRepeated = seen.has(row);
    seen.add(row);
    if (isRepeated || isStructure(source, key, row)) {
      codes[row] = 1;
      continue;
    }
    cells++;
    const shape = text === undefined || isEscaped ? -1 : table.read(text, 0, text.length);
    if (shape >= 0) {
      codes[row] = 3 + shape;
      mantissas[row] = table.mantissa;
    } else if (text === undefined) codes[row] = 1;
    else {
      codes[row] = 2;
      mantissas[row] = texts.push(text.latin1Slice()) - 1;
    }
    if (texts.length * 16 > cells + 256) return undefined;
  }
  if (texts.length * 16 > cells) return undefined;
  const shapes = table.shapes.map(({ places, unit }) => `${places}${unit.latin1Slice()}`);
  return { kind: 'number', codes, mantissas, shapes, texts };
}

/** Whether the first member of the row is an object or array. */
function isStructure({ members }: Source, key: number, row: number): boolean {
  for (let i = members.first[key]; i < members.first[key + 1]; i++) {
    const at = members.order[i];
    if (members.rows[at] === row) return members.kinds[at] === STRUCTURE;
  }
  return false;
}

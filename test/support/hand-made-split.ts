/** Splits of lines as any writer may make them (docs/dev/format.md#47-split-lines), with columns of texts and of words. */

export interface HandMadeTemplate {
  /** Constant texts, one more than columns. */
  readonly texts: readonly Buffer[];
  readonly columns: readonly number[];
}

export interface HandMadeSplit {
  readonly templates: readonly HandMadeTemplate[];
  /** Template of each row, from 1 on, and its values. */
  readonly rows: readonly { readonly template: number; readonly values: readonly Buffer[] }[];
  /** Whether each column, from column 1 on, is one of words. */
  readonly isWords: readonly boolean[];
}

const TEXT = 0;
const WORDS = 1;
const RECORD_BYTES = 24;

function numbers(bytes: 1 | 2 | 4, list: readonly number[]): Buffer {
  const out = Buffer.alloc(bytes * list.length);
  for (const [i, number] of list.entries()) out.writeUIntLE(number, i * bytes, bytes);
  return out;
}

interface Column {
  readonly record: Buffer;
  readonly bytes: Buffer;
}

function columnOf(
  type: number,
  values: readonly Buffer[],
  width: number,
  number: number,
  bytes: Buffer,
): Column {
  const record = Buffer.alloc(RECORD_BYTES);
  record[0] = type;
  record[2] = width;
  record.writeUInt32LE(values.length, 4);
  record.writeUInt32LE(bytes.length, 8);
  record.writeUInt32LE(number, 12);
  return { record, bytes };
}

function textColumn(values: readonly Buffer[]): Column {
  if (values.length === 0) return columnOf(TEXT, values, 0, 0, Buffer.alloc(0));
  const lengths = numbers(
    1,
    values.map(({ length }) => length),
  );
  return columnOf(TEXT, values, 1, 0, Buffer.concat([lengths, ...values]));
}

function wordsColumn(values: readonly Buffer[]): Column {
  if (values.length === 0) return textColumn(values);
  const words = [...new Set(values.map(value => value.latin1Slice()))];
  const indexes = numbers(
    1,
    values.map(value => words.indexOf(value.latin1Slice())),
  );
  const lengths = numbers(
    2,
    words.map(({ length }) => length),
  );
  const entries = words.map(word => Buffer.from(word, 'latin1'));
  const bytes = Buffer.concat([lengths, ...entries, ...(words.length > 1 ? [indexes] : [])]);
  return columnOf(WORDS, values, 0, words.length, bytes);
}

export function linesOfSplit({ templates, rows }: HandMadeSplit): Buffer[] {
  return rows.map(({ template, values }) => {
    const { texts } = templates[template - 1];
    return Buffer.concat(texts.flatMap((text, i) => (i === 0 ? [text] : [values[i - 1], text])));
  });
}

/** Returns the bytes of frame and columns. Values have up to 255 bytes, columns of words up to 256 words. */
export function bytesOfSplit({ templates, rows, isWords }: HandMadeSplit): Buffer {
  const columns: Buffer[][] = [[], ...isWords.map(() => [])];
  for (const { template, values } of rows)
    for (const [i, column] of templates[template - 1].columns.entries()) columns[column].push(values[i]);
  const packed = columns.map((values, i) =>
    i > 0 && isWords[i - 1] ? wordsColumn(values) : textColumn(values),
  );
  const pieces = templates.flatMap(({ texts, columns: own }) =>
    texts.map((text, i) => ({ text, column: own.at(i) ?? 0 })),
  );
  const text = Buffer.concat(pieces.map(piece => piece.text));
  const head = [templates.length, pieces.length, text.length, columns.length, rows.length, 1];
  return Buffer.concat([
    numbers(4, head),
    numbers(
      2,
      templates.map(({ texts }) => texts.length),
    ),
    numbers(
      2,
      pieces.map(piece => piece.text.length),
    ),
    numbers(
      2,
      pieces.map(({ column }) => column),
    ),
    text,
    ...packed.map(({ record }) => record),
    numbers(
      1,
      rows.map(({ template }) => template),
    ),
    ...packed.map(({ bytes }) => bytes),
  ]);
}

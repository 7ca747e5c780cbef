/**
 * Lines as templates and columns, plainly: what shared/base/kernels/assembly/split-lines.ts is to write, byte for byte. Lines are latin1 text.
 */
const MAX_VARIED_LINE = 32 * 1024;
const MAX_VARIABLES = 512;
const MAX_COLUMNS = 2048;
const MAX_TEMPLATE_BYTES = 256 * 1024;
const MAX_KEY = 64;

interface Variable {
  readonly start: number;
  readonly end: number;
  /** Position of the colon or equals sign after a key. */
  readonly sign: number | undefined;
}

const isWord = (char: string | undefined) => char !== undefined && /[A-Za-z0-9_-]/.test(char);
const isDigit = (char: string | undefined) => char !== undefined && /[0-9]/.test(char);

function stringEnd(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '"') return at;
    if (line[at] === '\\') at++;
  }
  return line.length;
}

/** First place from `from` on with a byte that fits, or the end. */
function find(line: string, from: number, fits: RegExp): number {
  for (let at = from; at < line.length; at++) if (fits.test(line[at])) return at;
  return line.length;
}

function wordEnd(line: string, from: number): number {
  for (let at = from; ; at++) {
    while (isWord(line[at])) at++;
    const joins = /[.:]/.test(line[at] ?? '') && isDigit(line[at - 1]) && isDigit(line[at + 1]);
    if (!joins) return at;
  }
}

/** The variable that begins because of the byte at `at`. */
function variableAt(line: string, at: number, floor: number): Variable | undefined {
  const [before, char] = [line[at - 1], line[at]];
  if (isDigit(char)) {
    let start = at;
    while (start > floor && isWord(line[start - 1])) start--;
    return { start, end: wordEnd(line, at), sign: undefined };
  }
  if (char === '"' && before === ' ' && line[0] !== '{') {
    const end = stringEnd(line, at + 1);
    return end === line.length ? undefined : { start: at + 1, end, sign: undefined };
  }
  const isJson = char === ':' && before === '"';
  if (!isJson && !(char === '=' && isWord(before))) return undefined;
  let start = at + 1;
  if (isJson && line[start] === ' ' && start + 1 < line.length) start++;
  if (line[start] === '"') return { start: start + 1, end: stringEnd(line, start + 1), sign: at };
  if (!isJson) return { start, end: find(line, start, /[\0- "]/), sign: at };
  return /[[{]/.test(line[start] ?? '') ? undefined : { start, end: find(line, start, /[,}\]]/), sign: at };
}

export function variablesOf(line: string): Variable[] | undefined {
  const found: Variable[] = [];
  let floor = 0;
  for (let at = 0; at < line.length; at++) {
    const variable = variableAt(line, at, floor);
    if (variable === undefined || variable.end <= variable.start) continue;
    if (found.length === MAX_VARIABLES) return undefined;
    found.push(variable);
    floor = variable.end;
    at = floor - 1;
  }
  return found;
}

function keyBefore(line: string, sign: number): string {
  let start = sign - (line[sign - 1] === '"' ? 1 : 0);
  const end = start;
  while (start > 0 && end - start < MAX_KEY && !/[\0- ",]/.test(line[start - 1])) start--;
  // The kernel's hash of 31 bits: keys with the same one share a column.
  let hash = 17;
  for (let at = end - 1; at >= start; at--) hash = (Math.imul(hash, 31) + line.charCodeAt(at)) | 0;
  return `key ${(hash | 0x80000000) >>> 0}`;
}

const u16 = (numbers: readonly number[]) => Buffer.from(Uint16Array.from(numbers).buffer);

/** @param times time of day of each line, ns */
export function splitOf(
  lines: readonly string[],
  times: ArrayLike<number> = [],
): { readonly frame: Buffer; readonly columns: Buffer } {
  const templates = new Map<string, { number: number; literals: string[]; columns: number[] }>();
  const columnOf = new Map<string, number>([['whole lines', 0]]);
  const values: string[][] = [[]];
  const timesOf: number[][] = [[]];
  const addValue = (column: number, value: string, row: number) => {
    values[column].push(value);
    timesOf[column].push(times[row]);
  };
  let textBytes = 0;
  const rowTemplates = lines.map((line, row) => {
    const variables = line.length > MAX_VARIED_LINE ? undefined : variablesOf(line);
    if (variables === undefined) {
      addValue(0, line, row);
      return 0;
    }
    const starts = [0, ...variables.map(({ end }) => end)];
    const literals = starts.map((start, i) => line.slice(start, variables[i]?.start));
    const key = JSON.stringify(literals);
    let template = templates.get(key);
    if (template === undefined) {
      const bytes = literals.join('').length;
      if (textBytes + bytes > MAX_TEMPLATE_BYTES || values.length + variables.length > MAX_COLUMNS) {
        addValue(0, line, row);
        return 0;
      }
      textBytes += bytes;
      const words = variables.filter(({ sign }) => sign === undefined).length;
      let word = 0;
      const columns = variables.map(({ sign }) => {
        const name = sign === undefined ? `word ${++word} of ${words}` : keyBefore(line, sign);
        let column = columnOf.get(name);
        if (column === undefined) {
          column = values.push([]) - 1;
          timesOf.push([]);
          columnOf.set(name, column);
        }
        return column;
      });
      template = { number: templates.size + 1, literals, columns };
      templates.set(key, template);
    }
    for (const [i, { start, end }] of variables.entries())
      addValue(template.columns[i], line.slice(start, end), row);
    return template.number;
  });

  const all = [...templates.values()];
  const packed = values.map((own, column) =>
    packColumn(own, times.length === 0 ? undefined : timesOf[column]),
  );
  const head = Buffer.alloc(24);
  const pieces = all.flatMap(({ literals }) => literals.map(({ length }) => length));
  const width = all.length > 255 ? 2 : 1;
  const numbers = [all.length, pieces.length, textBytes, values.length, lines.length, width];
  for (const [i, number] of numbers.entries()) head.writeUInt32LE(number, 4 * i);
  const frame = Buffer.concat([
    head,
    u16(all.map(({ literals }) => literals.length)),
    u16(pieces),
    u16(all.flatMap(({ columns }) => [...columns, 0])),
    Buffer.from(all.flatMap(({ literals }) => literals).join(''), 'latin1'),
    ...packed.map(({ record }) => record),
    Buffer.from(rowTemplates.map(template => template & 255)),
    Buffer.from(width === 2 ? rowTemplates.map(template => template >> 8) : []),
  ]);
  return { frame, columns: Buffer.concat(packed.map(({ bytes }) => bytes)) };
}

interface Packed {
  readonly record: Buffer;
  readonly bytes: Buffer;
}

/** Numbers of a record by name, and bytes. */
function packedAs(
  count: number,
  bytes: Buffer,
  { type = 0, detail = 0, width = 0, mode = 0, number = 0, base = 0n },
): Packed {
  const record = Buffer.alloc(24);
  record.set([type, detail, width, mode]);
  record.writeUInt32LE(count, 4);
  record.writeUInt32LE(bytes.length, 8);
  record.writeUInt32LE(number, 12);
  record.writeBigInt64LE(base, 16);
  return { record, bytes };
}

/** @param times time of day of the row of each value, ns */
export function packColumn(values: readonly string[], times?: readonly number[]): Packed {
  if (values.length === 0) return packedAs(0, Buffer.alloc(0), {});
  return (
    packWords(values) ??
    packNumber(values) ??
    packPattern(values, times) ??
    packNumbered(values) ??
    packText(values)
  );
}

/** Numbers of `width` bits each, the first in the lowest ones, or of a byte each. */
function packedBits(numbers: readonly number[], width: number): Buffer {
  if (width === 0) return Buffer.from(numbers);
  const bytes = Buffer.alloc(Math.ceil((width * numbers.length) / 8));
  for (const [i, number] of numbers.entries()) bytes[(width * i) >> 3] |= number << ((width * i) & 7);
  return bytes;
}

function packWords(values: readonly string[]): Packed | undefined {
  const entries = [...new Set(values)];
  if (entries.length > Math.min(256, values.length >> 1)) return undefined;
  if (entries.some(entry => entry.length > 1024)) return undefined;
  const width =
    entries.length === 1 || entries.length > 16 ? 0 : entries.length > 4 ? 4 : entries.length > 2 ? 2 : 1;
  const places = entries.length === 1 ? [] : values.map(value => entries.indexOf(value));
  const bytes = Buffer.concat([
    u16(entries.map(({ length }) => length)),
    Buffer.from(entries.join(''), 'latin1'),
    packedBits(places, width),
  ]);
  return packedAs(values.length, bytes, { type: 1, width, number: entries.length });
}

const fold = (value: bigint) => (value >= 0n ? 2n * value : -2n * value - 1n);
const sum = (all: readonly bigint[]) => all.reduce((a, b) => a + Number(b), 0);
const inOrder = (all: readonly bigint[]) => [...all].sort((a, b) => Number(a - b));

function packNumbers(values: readonly bigint[], mayDiffer: boolean) {
  const least = inOrder(values)[0];
  const steps = values.map((value, i) => fold(value - (values[i - 1] ?? value)));
  const direct = values.map(value => value - least);
  const mode = mayDiffer && sum(steps) < sum(direct) / 4 ? 1 : 0;
  const chosen = mode === 1 ? steps : direct;
  const width = Math.ceil(inOrder(chosen)[chosen.length - 1].toString(2).replace(/^0$/, '').length / 8);
  const planes = Array.from({ length: width }, (_, plane) =>
    Buffer.from(chosen.map(value => Number((value >> BigInt(8 * plane)) & 255n))),
  );
  return { bytes: Buffer.concat(planes), width, mode, base: mode === 1 ? values[0] : least };
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d{1,9})?$/;

function packNumber(values: readonly string[]): Packed | undefined {
  const placesOf = (value: string) => (value.includes('.') ? value.length - value.indexOf('.') - 1 : 0);
  const detail = placesOf(values[0]);
  for (const value of values) {
    if (!NUMBER.test(value) || placesOf(value) !== detail) return undefined;
    if (value.replace(/[-.]/g, '').length > 15 || /^-[0.]+$/.test(value)) return undefined;
  }
  const { bytes, ...how } = packNumbers(
    values.map(value => BigInt(value.replace('.', ''))),
    true,
  );
  return packedAs(values.length, bytes, { type: 2, detail, ...how });
}

const DAY_NS = 86_400_000_000_000;
/** `HH:MM:SS` and nine digits behind a dot. */
const clockText = (ns: number) =>
  `${new Date(Math.floor(ns / 1e9) * 1000).toISOString().slice(11, 19)}.${String(ns % 1e9).padStart(9, '0')}`;
const CLOCK_DIGITS = [1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/** Values that differ in digits of the time of their row only. */
function packClock(
  values: readonly string[],
  times: readonly number[],
  varies: readonly boolean[],
): Packed | undefined {
  for (let at = 0; at < values[0].length; at++) {
    const clock = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)/.exec(values[0].slice(at));
    if (clock === null) continue;
    const [, hours, minutes, seconds] = clock.map(Number);
    const seen = 3600 * hours + 60 * minutes + seconds;
    const shift = (seen - Math.floor(times[0] / 1e9) + 86_400) % 86_400;
    if (shift % 900 !== 0) continue;
    const digits = varies.map((isChanging, i) => (isChanging ? (CLOCK_DIGITS[i - at] ?? 0) : 0));
    if (digits.some((digit, i) => varies[i] && digit === 0)) continue;
    const isShown = values.every((value, i) => {
      const shown = clockText((times[i] + shift * 1e9) % DAY_NS);
      return digits.every((digit, place) => digit === 0 || value[place] === shown[place - at]);
    });
    if (!isShown) continue;
    const constant = varies.map((isChanging, i) => (isChanging ? 0 : values[0].charCodeAt(i)));
    const bytes = Buffer.from([...constant, ...digits]);
    return packedAs(values.length, bytes, {
      type: 5,
      detail: varies.length,
      base: BigInt(shift) * 10n ** 9n,
    });
  }
  return undefined;
}

function packPattern(values: readonly string[], times: readonly number[] | undefined): Packed | undefined {
  const [{ length }] = values;
  if (values.length < 8 || length > 64 || values.some(value => value.length !== length)) return undefined;
  const places = Array.from({ length }, (_, i) => ({
    varies: values.some(value => value[i] !== values[0][i]),
    isDigit: values.every(value => isDigit(value[i])),
    isHex: values.every(value => /[0-9a-f]/.test(value[i])),
  }));
  const pattern = (changes: (place: (typeof places)[number]) => boolean) => [
    Buffer.from(places.map((place, i) => (changes(place) ? 0 : values[0].charCodeAt(i)))),
    Buffer.from(places.map(place => Number(changes(place)))),
  ];
  const charsOf = (value: string, changes: (place: (typeof places)[number]) => boolean) =>
    [...value].filter((_, i) => changes(places[i])).join('');
  const varies = ({ varies }: (typeof places)[number]) => varies;
  const digits = places.filter(varies).length;
  if (digits > 0 && digits <= 16 && places.every(place => !place.varies || place.isDigit)) {
    const clock = times && packClock(values, times, places.map(varies));
    if (clock !== undefined) return clock;
    const numbers = packNumbers(
      values.map(value => BigInt(charsOf(value, varies))),
      true,
    );
    const { bytes, ...how } = numbers;
    return packedAs(values.length, Buffer.concat([...pattern(varies), bytes]), {
      type: 3,
      detail: length,
      ...how,
    });
  }
  const isHex = ({ isHex }: (typeof places)[number]) => isHex;
  const nibbles = places.filter(isHex).length;
  if (nibbles < 8 || places.some(place => place.varies && !place.isHex)) return undefined;
  const bytes = values.map(value => {
    const own = charsOf(value, isHex);
    return Buffer.from(own.length % 2 === 0 ? own : `${own}0`, 'hex');
  });
  return packedAs(values.length, Buffer.concat([...pattern(isHex), ...bytes]), {
    type: 4,
    detail: length,
    number: nibbles,
  });
}

/** The longest run of digits in the first 64 bytes, the last of equally long ones, with the digits on the other side of a dot. */
function numberIn(value: string) {
  const seen = value.slice(0, 64);
  let longest: RegExpExecArray | undefined;
  for (const run of seen.matchAll(/\d+/g)) if (run[0].length >= (longest?.[0].length ?? 0)) longest = run;
  if (longest === undefined) return { before: value, after: '', form: 0, number: 0n };
  let start = longest.index;
  let end = start + longest[0].length;
  let decimals = 0;
  const whole = /\d+\.$/.exec(seen.slice(0, start));
  const behind = /^\.(\d+)/.exec(seen.slice(end));
  if (longest[0].length <= 9 && whole !== null) {
    decimals = longest[0].length;
    start -= whole[0].length;
  } else if (behind !== null && behind[1].length <= 9) {
    decimals = behind[1].length;
    end += behind[0].length;
  }
  const wholeEnd = decimals === 0 ? end : end - decimals - 1;
  start = Math.max(start, wholeEnd - 15 + decimals);
  while (start + 1 < wholeEnd && value[start] === '0') start++;
  const number = BigInt(value.slice(start, end).replace('.', ''));
  return { before: value.slice(0, start), after: value.slice(end), form: decimals + 1, number };
}

/** Up to 255 texts around a number; at most an eighth of the values have others. */
function packNumbered(values: readonly string[]): Packed | undefined {
  if (values.length < 32) return undefined;
  const all = values.map(numberIn);
  const keyOf = ({ before, after, form }: (typeof all)[number]) => JSON.stringify([before, after, form]);
  const affixes = new Map<string, { index: number; value: string; numbers: Set<bigint> }>();
  const indexes = all.map((one, i) => {
    const key = keyOf(one);
    let known = affixes.get(key);
    if (known === undefined && affixes.size < 255 && values[i].length <= 1024) {
      known = { index: affixes.size, value: values[i], numbers: new Set() };
      affixes.set(key, known);
    }
    known?.numbers.add(one.number);
    return known?.index ?? 255;
  });
  const own = values.filter((_, i) => indexes[i] === 255);
  if (own.length > values.length >> 3 || own.some(({ length }) => length > 0xffff)) return undefined;
  const isIndexed = affixes.size > 1 || own.length > 0;
  const written = [...affixes.values()].map(({ value, numbers }) =>
    numbers.size > 1 ? numberIn(value) : { before: value, after: '', form: 0 },
  );
  const heads = written.map(({ before, after, form }) =>
    Buffer.concat([u16([before.length, after.length]), Buffer.of(form)]),
  );
  const numbers = all.filter((_, i) => indexes[i] !== 255 && written[indexes[i]].form > 0);
  const none = { bytes: Buffer.alloc(0), width: 0, mode: 0, base: 0n };
  const packed =
    numbers.length === 0
      ? none
      : packNumbers(
          numbers.map(({ number }) => number),
          true,
        );
  const bytes = Buffer.concat([
    Buffer.from(isIndexed ? indexes : []),
    ...heads,
    Buffer.from(written.map(({ before, after }) => before + after).join(''), 'latin1'),
    u16(own.map(({ length }) => length)),
    Buffer.from(own.join(''), 'latin1'),
    packed.bytes,
  ]);
  const text = values.reduce((total, { length }) => total + length, 0);
  if (4 * bytes.length > 3 * (text + values.length)) return undefined;
  const { width, mode, base } = packed;
  const how = { width, mode: mode + (isIndexed ? 0 : 2), base, number: text };
  return packedAs(values.length, bytes, { type: 6, detail: affixes.size, ...how });
}

function packText(values: readonly string[]): Packed {
  const { bytes, width, base } = packNumbers(
    values.map(({ length }) => BigInt(length)),
    false,
  );
  const text = Buffer.from(values.join(''), 'latin1');
  return packedAs(values.length, Buffer.concat([bytes, text]), { width, base });
}

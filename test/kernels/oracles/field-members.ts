/** Version of assembly/field-members.ts and the modules that it calls, member by member and byte by byte. */
import { FAULT, LogfmtDecoder, PAIR } from '../../../shared/execution/pipeline/logfmt-decoder.ts';
import { KIND_CLEAN } from '../../../shared/execution/pipeline/row-labels.ts';
import { ESCAPED, NOTHING, STRUCTURE, VALUE } from '../../../shared/storage/columns/line-members.ts';

export interface Member {
  /** Number of the key. */
  readonly entry: number;
  readonly start: number;
  readonly end: number;
  readonly kind: number;
}

/** Keys by the number of their parent and their bytes, numbered as they come. */
export class Keys {
  readonly #numbers = new Map<string, number>();
  readonly #isReserved: (key: string) => boolean;

  constructor(isReserved: (key: string) => boolean = () => false) {
    this.#isReserved = isReserved;
  }

  get count(): number {
    return this.#numbers.size;
  }

  /** Number of members; -1 if the line is left to the parser. */
  find(bytes: Buffer, parent: number): number {
    const id = `${parent} ${bytes.toString('hex')}`;
    let number = this.#numbers.get(id);
    if (number === undefined) {
      if (bytes.length > 112 || this.#numbers.size === 4096) return -1;
      this.#numbers.set(id, (number = this.#numbers.size));
    }
    return this.#isReserved(bytes.toString('latin1')) ? -1 : number;
  }
}

/** Undefined if the line is not strict or exceeds a limit; its keys up to there are added. */
export function jsonMembers(line: Buffer, keys: Keys): Member[] | undefined {
  const members: Member[] = [];
  let at = 0;
  const fail = (): never => {
    throw new Loose();
  };
  const byte = () => String.fromCharCode(line[at] ?? fail());
  const skipSpace = () => {
    while (at < line.length && ' \n\r\t'.includes(byte())) at++;
  };
  /** Moves behind a string that begins at `at`. */
  const skipString = () => {
    for (at++; byte() !== '"'; at++) if (byte() === '\\') at++;
    at++;
  };

  function readObject(depth: number, parent: number): void {
    at++;
    skipSpace();
    if (byte() === '}') return void at++;
    for (;;) {
      readMember(depth, parent);
      skipSpace();
      const after = byte();
      at++;
      if (after === '}') return;
      if (after !== ',') fail();
      skipSpace();
    }
  }

  function readMember(depth: number, parent: number): void {
    if (byte() !== '"') fail();
    const keyStart = at + 1;
    for (at++; byte() !== '"'; at++) if (byte() === '\\') fail();
    const entry = keys.find(line.subarray(keyStart, at), parent);
    if (entry < 0 || members.length === 256) fail();
    at++;
    skipSpace();
    if (byte() !== ':') fail();
    at++;
    skipSpace();
    const start = at;
    const first = byte();
    if (first === '"') {
      skipString();
      const kind = line.subarray(start + 1, at - 1).includes(0x5c) ? ESCAPED : VALUE;
      members.push({ entry, start: start + 1, end: at - 1, kind });
    } else if (first === '{') {
      if (depth === 8) fail();
      members.push({ entry, start, end: start, kind: STRUCTURE });
      readObject(depth + 1, entry + 1);
    } else if (first === '[') {
      members.push({ entry, start, end: start, kind: STRUCTURE });
      skipArray();
    } else {
      while (at < line.length && '0123456789+-.eEtrufalsn'.includes(byte())) at++;
      const word = line.latin1Slice(start, at);
      if (!/^([-0-9].*|true|false|null)$/.test(word)) fail();
      members.push({ entry, start, end: at, kind: word === 'null' ? NOTHING : VALUE });
    }
  }

  function skipArray(): void {
    const open: string[] = [];
    for (;;) {
      const bracket = byte();
      if (bracket === '"') {
        skipString();
        continue;
      }
      if (bracket === '[' || bracket === '{') {
        if (open.push(bracket === '[' ? ']' : '}') > 30) fail();
      } else if ((bracket === ']' || bracket === '}') && open.pop() !== bracket) fail();
      at++;
      if (open.length === 0) return;
    }
  }

  try {
    readObject(0, 0);
    skipSpace();
    return at === line.length ? members : undefined;
  } catch (error) {
    if (error instanceof Loose) return undefined;
    throw error;
  }
}

class Loose extends Error {}

const decoder = new LogfmtDecoder();

/** Undefined if the line has a mistake, is free text, or exceeds a limit. */
export function logfmtMembers(line: Buffer, keys: Keys): Member[] | undefined {
  const members: Member[] = [];
  decoder.reset(line, 0, line.length);
  let outcome = decoder.next();
  for (; outcome === PAIR; outcome = decoder.next()) {
    const { keyStart, keyEnd, valueStart: start, valueEnd: end, valueKind } = decoder;
    const withValue = members.filter(member => member.start < member.end).length;
    if (members.length === 256 || (members.length === 0 && line[keyStart] === 0x7b)) return undefined;
    if (start === end && members.length - withValue >= withValue) return undefined;
    const entry = keys.find(line.subarray(keyStart, keyEnd), 0);
    if (entry < 0) return undefined;
    members.push({ entry, start, end, kind: valueKind === KIND_CLEAN ? VALUE : ESCAPED });
  }
  return outcome === FAULT || !members.some(({ start, end }) => start < end) ? undefined : members;
}

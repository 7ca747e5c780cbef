/**
 * Streams the regular files of a tar archive (POSIX ustar, pax and GNU). Headers have 512 bytes. A name that
 * does not fit in its header is in an extra entry before it.
 */
import { CommandError } from '../command-error.ts';

interface TarMember {
  readonly name: string;
  /** Modification time, Unix seconds. */
  readonly modifiedSeconds: number;
  /** Content; read it before requesting the next member. Unread content is skipped. */
  readonly content: AsyncIterable<Buffer>;
}

const BLOCK_BYTES = 512;
const CUT_OFF = 'the tar archive is truncated';
/** Maximum size of a long name or of pax headers. Paths have at most 4,096 bytes. */
const MAX_EXTENSION_BYTES = 64 * 1024;

export function isTar(first: Buffer | undefined): boolean {
  return (
    first !== undefined &&
    first.toString('latin1', 257, 262) === 'ustar' &&
    isHeader(first.subarray(0, BLOCK_BYTES))
  );
}

/** Members of an archive. Throws CommandError if the archive is corrupt. */
export async function* tarMembers(input: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const bytes = new PieceReader(input);
  try {
    let longName: string | undefined;
    let pax: ReadonlyMap<string, string> = new Map();
    for (;;) {
      const header = await bytes.exactly(BLOCK_BYTES);
      // A block of zeros ends the archive; some writers omit it.
      if (header.every(byte => byte === 0)) return;
      if (header.length < BLOCK_BYTES) throw new CommandError(CUT_OFF);
      if (!isHeader(header))
        throw new CommandError('the tar archive is corrupt: a header has a wrong checksum');
      const type = String.fromCharCode(header[156]);
      const size = Number(pax.get('size') ?? numberAt(header, 124, 12));
      if (!Number.isSafeInteger(size) || size < 0)
        throw new CommandError('the tar archive is corrupt: a size is not a number');
      const padding = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
      if (type === 'L' || type === 'x' || type === 'g') {
        if (size > MAX_EXTENSION_BYTES)
          throw new CommandError('the tar archive is corrupt: a name is too long');
        const text = await bytes.exactly(size + padding);
        if (text.length < size) throw new CommandError(CUT_OFF);
        if (type === 'L') longName = textAt(text, 0, size);
        else if (type === 'x') pax = paxRecords(text.subarray(0, size));
        continue;
      }
      const member = new MemberContent(bytes, size);
      if (type === '0' || type === '\0' || type === '7') {
        const name = pax.get('path') ?? longName ?? nameOf(header);
        const modifiedSeconds = Number(pax.get('mtime') ?? numberAt(header, 136, 12));
        yield { name, modifiedSeconds, content: member };
      }
      await member.skip();
      if ((await bytes.exactly(padding)).length < padding) throw new CommandError(CUT_OFF);
      longName = undefined;
      pax = new Map();
    }
  } finally {
    await bytes.close();
  }
}

function isHeader(header: Buffer): boolean {
  if (header.length < BLOCK_BYTES) return false;
  // The checksum counts its own field as spaces.
  let sum = 0;
  for (let i = 0; i < BLOCK_BYTES; i++) sum += i >= 148 && i < 156 ? 0x20 : header[i];
  return sum === numberAt(header, 148, 8);
}

function nameOf(header: Buffer): string {
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? textAt(header, 345, 155) : '';
  const name = textAt(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(bytes: Buffer, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

/** Number in octal digits, or in binary if the first bit is set. NaN if the field has neither. */
function numberAt(header: Buffer, start: number, length: number): number {
  if ((header[start] & 0x80) !== 0) {
    let value = 0;
    for (let i = start + 1; i < start + length; i++) value = value * 256 + header[i];
    return value;
  }
  const text = textAt(header, start, length).trim();
  return /^[0-7]*$/.test(text) ? Number.parseInt(text || '0', 8) : Number.NaN;
}

/** Records such as `21 path=folder/name\n`, each with its length first. */
function paxRecords(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? 0 : Number(bytes.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at || at + length > bytes.length) break;
    const [name, ...value] = bytes.toString('utf8', space + 1, at + length - 1).split('=');
    records.set(name, value.join('='));
    at += length;
  }
  return records;
}

class MemberContent implements AsyncIterable<Buffer> {
  readonly #bytes: PieceReader;
  #leftBytes: number;

  constructor(bytes: PieceReader, size: number) {
    this.#bytes = bytes;
    this.#leftBytes = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    while (this.#leftBytes > 0) yield await this.#next();
  }

  async skip(): Promise<void> {
    while (this.#leftBytes > 0) await this.#next();
  }

  async #next(): Promise<Buffer> {
    const piece = await this.#bytes.upTo(this.#leftBytes);
    if (piece === undefined) throw new CommandError(CUT_OFF);
    this.#leftBytes -= piece.length;
    return piece;
  }
}

class PieceReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #open: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Buffer>) {
    this.#pieces = input[Symbol.asyncIterator]();
  }

  /** Up to `maxBytes` bytes; undefined at the end of the input. */
  async upTo(maxBytes: number): Promise<Buffer | undefined> {
    while (this.#open.length === 0) {
      const got = await this.#pieces.next();
      if (got.done) return undefined;
      this.#open = got.value;
    }
    const taken = this.#open.subarray(0, maxBytes);
    this.#open = this.#open.subarray(taken.length);
    return taken;
  }

  /** Exactly `bytes` bytes; fewer if the input ends early. */
  async exactly(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const part = await this.upTo(left);
      if (part === undefined) break;
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

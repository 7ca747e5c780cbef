/**
 * Decompresses gzip, zstd and xz, and reads UTF-16. Formats are detected by their first bytes, because file
 * names are unreliable and standard input has none.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TextDecoder } from 'node:util';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { messageOf } from '../../../shared/base/model/errors.ts';
import { CommandError } from '../command-error.ts';
import { newerNodePath } from '../newer-node.ts';
import { peek } from './first-bytes.ts';

type Pieces = AsyncIterable<Buffer>;

const PACKINGS: readonly {
  readonly name: string;
  readonly magic: Buffer;
  unpack(packed: Pieces): Promise<Pieces>;
}[] = [
  { name: 'gzip', magic: Buffer.from('1f8b', 'hex'), unpack: packed => through(packed, createGunzip()) },
  {
    name: 'zstd',
    magic: Buffer.from('28b52ffd', 'hex'),
    unpack: async packed => {
      const path = await newerNodePath();
      return path === undefined ? through(packed, createZstdDecompress()) : unpackedBy(path, packed);
    },
  },
  { name: 'xz', magic: Buffer.from('fd377a585a00', 'hex'), unpack: unpackXz },
];

/** Byte order marks, with which Windows programs begin such files. */
const UTF_16: readonly { readonly mark: Buffer; readonly encoding: string }[] = [
  { mark: Buffer.from('fffe', 'hex'), encoding: 'utf-16le' },
  { mark: Buffer.from('feff', 'hex'), encoding: 'utf-16be' },
];

const MARK_BYTES = 2;

/** Text of an input in UTF-8, compressed or not. Throws CommandError if it is truncated or corrupt. */
export async function* unpacked(input: Pieces): AsyncGenerator<Buffer> {
  const { first, all } = await peek(input);
  const packing = PACKINGS.find(({ magic }) => first?.subarray(0, magic.length).equals(magic));
  if (packing === undefined) {
    yield* inUtf8(all);
    return;
  }
  try {
    yield* inUtf8(await packing.unpack(all));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`the ${packing.name} data is truncated or corrupt: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function* inUtf8(input: Pieces): AsyncGenerator<Buffer> {
  const { first, all } = await peek(input, MARK_BYTES);
  const { encoding } = UTF_16.find(({ mark }) => first?.subarray(0, mark.length).equals(mark)) ?? {};
  if (encoding === undefined) {
    yield* all;
    return;
  }
  const decoder = new TextDecoder(encoding);
  for await (const piece of all) {
    const text = decoder.decode(piece, { stream: true });
    if (text !== '') yield Buffer.from(text);
  }
  const rest = decoder.decode();
  if (rest !== '') yield Buffer.from(rest);
}

async function through(packed: Pieces, transform: Transform): Promise<Pieces> {
  const source = Readable.from(packed);
  source.on('error', error => transform.destroy(error));
  transform.on('close', () => source.destroy());
  return source.pipe(transform);
}

const ZSTD_PROGRAM = `const { stdin, stdout } = process;
const unpacker = require('node:zlib').createZstdDecompress();
require('node:stream').pipeline(stdin, unpacker, stdout, error => {
  if (error) require('node:fs').writeSync(2, error.message);
  process.exitCode = error ? 1 : 0;
});`;

/** Decompresses zstd in another Node.js, because this one is too old for it. */
async function* unpackedBy(node: string, packed: Pieces): AsyncGenerator<Buffer> {
  const child = spawn(node, ['--eval', ZSTD_PROGRAM], { stdio: ['pipe', 'pipe', 'pipe'] });
  try {
    const closed = once(child, 'close') as Promise<[code: number | null]>;
    let problem = '';
    child.stderr.setEncoding('utf8').on('data', text => {
      problem += text;
    });
    const fed = pipeline(packed, child.stdin).catch(error => error as unknown);
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = await closed;
    if (code !== 0) throw new Error(problem.trim() || messageOf(await fed));
  } finally {
    child.kill();
  }
}

/** Loaded on demand, because it is WebAssembly. */
async function unpackXz(packed: Pieces): Promise<Pieces> {
  const { XzReadableStream } = await import('xz-decompress');
  const source = Readable.toWeb(Readable.from(packed)) as ReadableStream<Uint8Array>;
  return buffersOf(new XzReadableStream(source));
}

async function* buffersOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  const reader = stream.getReader();
  try {
    for (let got = await readPart(reader); !got.done; got = await readPart(reader)) {
      const { buffer, byteOffset, length } = got.value;
      // The decoder reuses its memory, so copy.
      yield Buffer.from(Buffer.from(buffer, byteOffset, length));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Error code of the decoder for an unsupported check or filter. */
const UNKNOWN_OPTIONS = /error code 6$/;

async function readPart<T>(reader: { read(): Promise<T> }): Promise<T> {
  try {
    return await reader.read();
  } catch (error) {
    if (!UNKNOWN_OPTIONS.test(messageOf(error))) throw error;
    const advice = 'decompress it first: xz -dc FILE | logboom push -';
    throw new CommandError(`the xz data uses an unsupported check or filter; ${advice}`);
  }
}

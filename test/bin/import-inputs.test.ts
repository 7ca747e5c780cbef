/** Folders, patterns, archives and compressed inputs of `logboom push`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inputFiles, textsOf } from '../../bin/cli/import/input-texts.ts';
import { isTar, tarMembers } from '../../bin/cli/import/tar.ts';
import { unpacked } from '../../bin/cli/import/unpack.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FIXTURES = join(import.meta.dirname, 'fixtures');

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}

async function textsIn(path: string, isNamed = true) {
  const skipped: string[] = [];
  const texts: (readonly [string | undefined, string])[] = [];
  for await (const { name, content } of textsOf({ path, isNamed }, each => skipped.push(each)))
    texts.push([name, await textOf(content)]);
  return { texts, skipped };
}

function cut(bytes: Buffer, size: number): Readable {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return Readable.from(pieces);
}

describe('input files', () => {
  test('are found in folders and by patterns, each once and by name, without hidden ones', async () => {
    const at = (...path: string[]) => join(folder, 'found', ...path);
    mkdirSync(at('sub', 'deep'), { recursive: true });
    for (const path of [at('b.log'), at('a.log'), at('sub', 'deep', 'c.log'), at('.hidden'), at('x[1].log')])
      writeFileSync(path, 'x');
    const paths = async (...given: string[]) => (await inputFiles(given)).map(({ path }) => path);
    expect(await paths(at())).toEqual([at('a.log'), at('b.log'), at('sub', 'deep', 'c.log'), at('x[1].log')]);
    expect(await paths(at('**', '{a,c}.log'), at('a.log'))).toEqual([
      at('a.log'),
      at('sub', 'deep', 'c.log'),
    ]);
    expect(await paths(at('x[1].log'), 'missing')).toEqual([at('x[1].log'), 'missing']);
    await expect(inputFiles([at('*.txt')])).rejects.toThrow('no file matches');
  });

  test('files that are not text are skipped unless they are named', async () => {
    const path = join(folder, 'binary');
    writeFileSync(path, 'a\0b');
    expect(await textsIn(path, false)).toEqual({ texts: [], skipped: [path] });
    expect(await textsIn(path)).toEqual({ texts: [['binary', 'a\0b']], skipped: [] });
  });

  test('files in UTF-16 become UTF-8, plain or compressed, in chunks of any size', async () => {
    const text = 'a \u00e9 \u6f22 \u{1f600}\r\nb\n';
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    const path = join(folder, 'utf16.log');
    for (const bytes of [little, Buffer.from(little).swap16(), gzipSync(little)]) {
      writeFileSync(path, bytes);
      expect(await textsIn(path, false)).toEqual({ texts: [['utf16.log', text]], skipped: [] });
      for (const size of [2, 3, 5, 1000]) expect(await textOf(unpacked(cut(bytes, size)))).toBe(text);
    }
  });
});

describe('compressed inputs', () => {
  const LONG = 'a line of text\n'.repeat(20_000);

  test.each([
    ['gzip', gzipSync(LONG)],
    ['two members of gzip', Buffer.concat([gzipSync(LONG.slice(0, 1000)), gzipSync(LONG.slice(1000))])],
    ['zstd', zstdCompressSync(LONG)],
    ['nothing', Buffer.from(LONG)],
  ])('%s', async (_, bytes) => {
    expect(await textOf(unpacked(cut(bytes, 10_000)))).toBe(LONG);
  });

  test.each([
    ['gzip', gzipSync(LONG)],
    ['zstd', zstdCompressSync(LONG)],
    ['xz', readFileSync(join(FIXTURES, 'gnu.tar.xz'))],
  ])('truncated input of %s is an error', async (name, bytes) => {
    const half = cut(bytes.subarray(0, bytes.length / 2), 100);
    await expect(textOf(unpacked(half))).rejects.toThrow(`the ${name} data is truncated or corrupt`);
  });

  test('input of xz with SHA-256 checks is an error that says what to do', async () => {
    const packed =
      '/Td6WFoAAArh+wyhAgAhARYAAAB0L+WjAQADYQpiCgCREWndqvFGr/U59YwmxImvO4kt/w/ig8HCZMZa5apZogABNATFgsGcGJtLmgEAAAAAClla';
    await expect(textOf(unpacked(Readable.from([Buffer.from(packed, 'base64')])))).rejects.toThrow(
      'xz -dc FILE',
    );
  });

  test.each(['gzip', 'zstd', 'xz'])('input of %s with hostile bytes is an error', async name => {
    const magic = { gzip: '1f8b', zstd: '28b52ffd', xz: 'fd377a585a00' }[name]!;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), async bytes => {
        const input = Buffer.concat([Buffer.from(magic, 'hex'), bytes]);
        await expect(textOf(unpacked(Readable.from([input])))).rejects.toThrow(
          /truncated or corrupt|unsupported/,
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe('archives', () => {
  test.each(['gnu', 'pax'])('reads a tar archive in %s format that is compressed with xz', async name => {
    const { texts, skipped } = await textsIn(join(FIXTURES, `${name}.tar.xz`));
    expect(texts).toEqual([
      ['b.log', '2026-01-05T10:00:00Z flat\n'],
      ['b.log.gz', '2026-01-05T10:00:00Z flat\n'],
      ['app.log', '2026-01-05T10:00:00Z deep\n'],
    ]);
    expect(skipped).toEqual(['logs/c.bin']);
  });

  test('provide the names and times of their files, in chunks of any size', async () => {
    const tar = Buffer.from(
      await binaryOf(unpacked(Readable.from([readFileSync(join(FIXTURES, 'gnu.tar.xz'))]))),
    );
    expect(isTar(tar)).toBe(true);
    for (const size of [1, 511, 513, 100_000]) {
      const names: string[] = [];
      for await (const { name, modifiedSeconds } of tarMembers(cut(tar, size))) {
        names.push(name);
        expect(modifiedSeconds).toBe(Date.UTC(2026, 0, 6) / 1000);
      }
      expect(names).toEqual([
        'logs/b.log',
        'logs/b.log.gz',
        'logs/c.bin',
        `logs/${'d'.repeat(60)}/${'e'.repeat(60)}/app.log`,
      ]);
    }
    await expect(readAll(tar.subarray(0, 1500))).rejects.toThrow('the tar archive is truncated');
    const broken = Buffer.from(tar);
    broken[513]++;
    await expect(readAll(broken)).rejects.toThrow('a header has a wrong checksum');
  });

  test('an archive with hostile headers is an error, or ends', async () => {
    const tar = Buffer.from(
      await binaryOf(unpacked(Readable.from([readFileSync(join(FIXTURES, 'pax.tar.xz'))]))),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.nat(tar.length - 1),
        fc.uint8Array({ minLength: 1, maxLength: 12 }),
        async (at, bytes) => {
          const changed = Buffer.from(tar);
          changed.set(bytes.subarray(0, tar.length - at), at);
          // The checksum is corrected, so the header counts.
          const block = Math.floor(at / 512) * 512;
          changed.fill(' ', block + 148, block + 156);
          const sum = changed.subarray(block, block + 512).reduce((total, byte) => total + byte, 0);
          changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, block + 148, 'latin1');
          await readAll(changed).catch(error => expect(error.message).toContain('the tar archive is'));
        },
      ),
    );
  });
});

async function readAll(tar: Buffer): Promise<void> {
  for await (const { content } of tarMembers(cut(tar, 1000))) for await (const _ of content);
}

async function binaryOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

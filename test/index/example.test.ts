/** The example of docs/dev/index-format.md is what the writer makes of the example of docs/dev/format.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { headBytesOf, readIndexHead } from '../../shared/storage/index/day-index.ts';
import { encodeIndex } from '../../shared/storage/index/write.ts';
import { bufferSource } from '../support/buffer-source.ts';

/** Bytes of the listing of a page; its offsets must follow each other. */
function listingOf(file: string): Buffer {
  const page = readFileSync(join(process.cwd(), 'docs', 'dev', file), 'utf8');
  const bytes: number[] = [];
  for (const line of /```hex\n([^`]+)```/.exec(page)![1].trimEnd().split('\n')) {
    const [, offset, hex] = /^ *(\d+) {2}((?:[0-9a-f]{2} ?)+)/.exec(line)!;
    expect([line, Number(offset)]).toEqual([line, bytes.length]);
    for (const byte of hex.trim().split(' ')) bytes.push(Number.parseInt(byte, 16));
  }
  return Buffer.from(bytes);
}

test('the example of the page has the bytes of the encoder', async () => {
  const footer = footerOf(listingOf('format.md'), 'example');
  const chunks = [{ id: footer.id, footer }];
  const object = await encodeIndex({ tenant: 't', day: 20_412, createdMs: 1_763_600_060_000, chunks });
  const listing = listingOf('index-format.md');
  expect(listing.toString('hex')).toBe(object.toString('hex'));
  expect(headBytesOf(listing)).toBe(106);
  const index = await readIndexHead(bufferSource(listing), { tenant: 't', day: 20_412 });
  expect(index.streams).toEqual(footer.streams);
  expect(await index.counts(footer.id)).toEqual({ levels: footer.levels, counts: [...footer.counts] });
});

/** A merge of objects that each version of the format has written, copied or encoded, loses nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import type { MergeInput } from '../../shared/upkeep/compaction/merge.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { entriesOfPage, type PlainEntry } from '../support/rows.ts';
import {
  chunkId,
  copyableInputsOf,
  DAY,
  DAY_START,
  inOrder,
  inputOf,
  keyOf,
  merge,
  pagesOf,
} from './support/merge-chunks.ts';

const VERSIONS = [1, 2, 3, 4, 5];
/** Versions with a golden file of field columns and a text index that are not part of the split lines. */
const ENRICHED = [1, 2, 3, 5];
const FOLDER = join(process.cwd(), 'test/chunk/golden');

/** Golden objects: pushes, which have lines only, and merged chunks, which have field columns and a text index. */
const objects = VERSIONS.flatMap(version =>
  [`v${version}`, ...(ENRICHED.includes(version) ? [`v${version}-enriched`] : [])].map(name =>
    readFileSync(join(FOLDER, `${name}.chunk`)),
  ),
);
const ofDay = objects.filter(object => footerOf(object, 'golden').day === DAY);

function entriesOf(object: Buffer): PlainEntry[] {
  return pagesOf(object).flatMap(page => entriesOfPage(page, DAY_START));
}

/** As chunks of one tenant. The golden objects have the tenants of their tests, and one ID. */
function together(inputs: readonly MergeInput[]): MergeInput[] {
  return inputs.map((input, i) => ({
    ...input,
    footer: { ...input.footer, tenant: 't-1', id: chunkId(i + 1), origin: chunkId(i + 1) },
  }));
}

function sortedKeys(entries: readonly PlainEntry[]): string[] {
  return entries.map(keyOf).sort();
}

describe('objects of all versions in one merge', () => {
  const wanted = sortedKeys(inOrder(ofDay.flatMap(entriesOf)));

  test('the golden objects are of one day, and of all versions', () => {
    expect(ofDay.length).toBe(objects.length);
    expect([...new Set(ofDay.map(object => footerOf(object, 'golden').version))]).toEqual(VERSIONS);
    expect(wanted.length).toBeGreaterThan(600);
  });

  test.each(['copied', 'encoded'])('pages are %s', async way => {
    const { inputs, indexer } =
      way === 'copied'
        ? await copyableInputsOf(ofDay)
        : { inputs: ofDay.map(inputOf), indexer: chunkIndexers(0) };
    const { entries } = await merge(together(inputs), { level: 3, indexer });
    expect(sortedKeys(entries)).toEqual(wanted);
  });

  test('outputs are merged again with each version', async () => {
    const all = together(ofDay.map(inputOf));
    const { objects: outputs } = await merge(all, { level: 3, indexer: chunkIndexers(0) });
    for (const object of ofDay) {
      const { inputs, indexer } = await copyableInputsOf([...outputs, object]);
      const { entries } = await merge(together(inputs), { level: 3, indexer });
      expect(sortedKeys(entries)).toEqual(wanted);
    }
  });
});

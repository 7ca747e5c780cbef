import { expect, test } from '@jest/globals';
import { partitionsFor, RecordPartitions } from '../../shared/write/ingest/record-partitions.ts';
import { record } from '../catalog/records.ts';

test.each([
  [0, 1],
  [300, 1],
  [301, 2],
  [1200, 4],
  [1201, 8],
  [19_000, 64],
  [1e9, 256],
])('%i units per second need %i partitions', (units, partitions) => {
  expect(partitionsFor(units)).toBe(partitions);
});

/** Units that the next group requests after `groups` groups of one push each. */
function wantedAfter(groups: number, inlineBytes: number, pushBytes: number, demand: number | undefined) {
  const partitions = new RecordPartitions();
  const records = [record(1, { inline: Buffer.alloc(inlineBytes) })];
  let wanted = 0;
  for (let i = 0; i < groups; i++) wanted = partitions.wanted('t', { bytes: pushBytes, records }, demand);
  return wanted;
}

const MB = 1e6;
test.each([
  ['10 KB pushes at 2 MB/s', 40, 4000, 10_000, 2 * MB, 4],
  ['10 KB pushes at 100 MB/s', 40, 4000, 10_000, 100 * MB, 256],
  ['1 MB pushes at 100 MB/s', 40, 0, MB, 100 * MB, 1],
  ['a few pushes', 10, 4000, 10_000, 100 * MB, 1],
  ['an unknown rate', 40, 4000, 10_000, undefined, 1],
])('partitions for %s', (_, groups, inlineBytes, pushBytes, demand, partitions) => {
  expect(wantedAfter(groups, inlineBytes, pushBytes, demand)).toBe(partitions);
});

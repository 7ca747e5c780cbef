/** Tables of `npm run bench -- day`: next to each figure for a TB is the one that the simulated fleet assumes. */
import { CHUNK } from '../../test/simulation/fleet/figures.ts';
import { type Cell, formatTable } from '../table.ts';
import type { DayFigures } from './run-day.ts';

const TB = 1e12;
const MB = 1e6;

export function dayTables({
  mb,
  ingest,
  merges,
  flush,
  indexing,
  peakRssMb,
  queries,
  planning,
  ...sizes
}: DayFigures): string {
  const gb = mb / 1000;
  const ofTb = (amount: number) => (amount * TB) / planning.lineBytes;
  const { objectBytes, tableBytes } = sizes;
  const steps = formatTable(
    ['step', 'seconds', 'MB/s', 'CPU s/GB'],
    [
      ['push, merged meanwhile', ingest.seconds, mb / ingest.seconds, ingest.cpuS / gb],
      ['remaining merges', merges.seconds, mb / merges.seconds, merges.cpuS / gb],
      ['flush', flush.seconds, mb / flush.seconds, flush.cpuS / gb],
      ['index sync', indexing.seconds, mb / indexing.seconds, indexing.cpuS / gb],
    ],
  );
  const assumed = {
    footers: (CHUNK.footerShare * TB) / MB,
    footersS: CHUNK.footerCpuMsPerGb,
    heap: (CHUNK.footerHeapShare * TB) / MB,
  };
  const mbOfTb = (bytes: number) => ofTb(bytes) / MB;
  const secondsOfTb = (ms: number) => ofTb(ms) / 1000;
  const rows: Cell[][] = [
    ['objects, MB', objectBytes / MB, mbOfTb(objectBytes), (CHUNK.storedShare * TB) / MB],
    ['table, MB', tableBytes / MB, mbOfTb(tableBytes), null],
    ['chunks', planning.chunks, ofTb(planning.chunks), TB / CHUNK.lineBytes],
    ['chunks within an hour', planning.chunksOfHour, ofTb(planning.chunksOfHour), null],
    ['hours in which chunks begin', planning.hours, null, null],
    ['day indexes', planning.indexes, null, null],
    ['records, MB', planning.recordBytes / MB, mbOfTb(planning.recordBytes), null],
    ['day index, MB', planning.indexBytes / MB, mbOfTb(planning.indexBytes), null],
    ['its head, MB', planning.indexHeadBytes / MB, mbOfTb(planning.indexHeadBytes), null],
    ['footers, MB', planning.footerBytes / MB, mbOfTb(planning.footerBytes), assumed.footers],
    ['text indexes, MB', planning.textIndexBytes / MB, mbOfTb(planning.textIndexBytes), null],
    ['reading records, CPU s', planning.recordsMs / 1000, secondsOfTb(planning.recordsMs), null],
    ['reading the index, CPU s', planning.indexMs / 1000, secondsOfTb(planning.indexMs), null],
    ['reading footers, CPU s', planning.footersMs / 1000, secondsOfTb(planning.footersMs), assumed.footersS],
    ['checking a text, CPU s', planning.textMs / 1000, secondsOfTb(planning.textMs), null],
    ['memory of the index, MB', planning.indexHeapBytes / MB, mbOfTb(planning.indexHeapBytes), null],
    ['memory of footers, MB', planning.footerHeapBytes / MB, mbOfTb(planning.footerHeapBytes), assumed.heap],
    ['pages that an absent text leaves, %', (100 * planning.pagesLeft) / planning.pages, null, 0.1],
  ];
  const day = formatTable(['figure', 'this day', 'for a TB', 'simulated'], rows);
  const asked = formatTable(
    ['query', 'hours', 'cold ms', 'warm ms', 'CPU s, cold'],
    queries.map(({ name, hours, coldMs, warmMs, cpuS }): Cell[] => [name, hours, coldMs, warmMs, cpuS]),
  );
  const memory = [
    ...(peakRssMb === undefined
      ? []
      : [`peak memory while pushing and merging: ${Math.round(peakRssMb)} MB`]),
    `peak memory of index sync: ${Math.round(indexing.peakRssMb)} MB`,
    `chunks by part of the streams (1: all): ${planning.chunksOfParts.map(each => each.join(' × ')).join(', ')}`,
  ];
  return `${steps}\n\n${memory.join('\n')}\n\n${day}\n\n${asked}`;
}

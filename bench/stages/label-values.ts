/**
 * Values of a label that has a million of them in one day, in ten chunks and an index: refused with a clear error, and what
 * that takes of memory. Prints the process's memory before and after to stderr. Making the day takes a minute.
 */
import { systemClock, systemIds } from '../../local/system-clock.ts';
import { Catalog } from '../../shared/catalog/catalog.ts';
import { storeChunk } from '../../shared/catalog/chunk-object.ts';
import { QUICK_COMPRESSION } from '../../shared/chunk/compression.ts';
import { writeChunk } from '../../shared/chunk/writer.ts';
import { DayIndexes } from '../../shared/index/day-indexes.ts';
import { Syncer } from '../../shared/index/syncer.ts';
import { BadRequestError } from '../../shared/model/errors.ts';
import { memoryObjectStore } from '../../shared/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/ports/memory/table.ts';
import { ChunkSource } from '../../shared/query/chunk-source.ts';
import { LabelValues, visitStreams } from '../../shared/query/streams-query.ts';
import { rowsOf } from '../../test/support/rows.ts';

const DAY = 20_000;
const DAY_NS = 86_400_000_000_000n;
const CHUNKS = 10;
const VALUES_PER_CHUNK = 100_000;
const MB = 1e6;

const tell = (what: string) => {
  const { rss, heapUsed } = process.memoryUsage();
  process.stderr.write(`${what}: RSS ${Math.round(rss / MB)} MB, heap ${Math.round(heapUsed / MB)} MB\n`);
};

async function makeDay() {
  const store = memoryObjectStore();
  const catalog = new Catalog({
    table: memoryTable({ clock: systemClock }),
    clock: systemClock,
    ids: systemIds,
  });
  const onBroken = (error: Error) => {
    throw error;
  };
  const indexes = () => new DayIndexes({ store, onBroken });
  const signal = new AbortController().signal;
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const rows = rowsOf(
      Array.from({ length: VALUES_PER_CHUNK }, (_, i) => ({
        stream: { app: 'a', id: `request-${chunk * VALUES_PER_CHUNK + i}` },
        time: 1 + i * 1e6,
        line: 'x',
        metadata: {},
      })),
    );
    const head = { id: systemIds.randomHex(16), tenant: 't', day: DAY, level: 1, createdMs: 1, inputs: [] };
    const written = await writeChunk(head, rows, QUICK_COMPRESSION);
    await catalog.addChunks([await storeChunk(store, written, 0)]);
  }
  const made = { catalog, store, clock: systemClock, ids: systemIds, indexes: indexes(), graceMs: 1 };
  await new Syncer(made).syncDay({ tenant: 't', day: DAY, force: true, untilMs: Infinity, signal });
  return { catalog, store, indexes };
}

let day: ReturnType<typeof makeDay> | undefined;
let told = false;

async function listValues(): Promise<void> {
  day ??= makeDay();
  const { catalog, store, indexes } = await day;
  if (!told) tell('before');
  const range = { startNs: BigInt(DAY) * DAY_NS, endNs: BigInt(DAY + 1) * DAY_NS };
  const request = { tenants: ['t'], range, selectors: [], signal: new AbortController().signal };
  const values = new LabelValues('id');
  try {
    await visitStreams(catalog, new ChunkSource(store), request, indexes(), values.add);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    if (!told) tell(`after "${error.message.slice(0, 60)}"`);
    told = true;
    return;
  }
  throw new Error('a million values were not refused');
}

export const cases = [{ name: 'a million, refused', run: listValues }];

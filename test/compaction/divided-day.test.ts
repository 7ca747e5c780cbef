/** Functions divide the day of a large tenant by hash of stream, and merge each part under its lease. */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import { decodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { commonPart } from '../../shared/storage/catalog/stream-part.ts';
import { MERGE_SIZES } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { type Around, DAY, Fuse, makeWorld, TENANT, type World } from '../deletion/jobs/world.ts';

const STREAMS = 32;
const SIZES = { ...MERGE_SIZES, finalFromBytes: 0, windowBytesOfPart: 3000, mergeBytesOfPart: 1000 };

/** Windows of 5 minutes. Their pushes have lines of these lengths. */
async function worldOf(
  lengths: readonly number[],
  options: Parameters<typeof makeWorld>[0] = {},
): Promise<World> {
  const world = makeWorld({ mergeSizes: SIZES, ...options });
  for (const [window, length] of lengths.entries()) {
    for (let push = 0; push < 3; push++) {
      await world.push(
        Array.from({ length: STREAMS }, (_, pod) => ({
          stream: { app: 'a', pod: `${pod}` },
          day: DAY,
          time: (window * 5 + 1) * NS_OF_MINUTE + push,
          line: `${window} ${push}`.padEnd(length, '.'),
          metadata: {},
        })),
      );
    }
  }
  // Pushes settle.
  world.clock.advance(5000);
  return world;
}

interface SeenMerge {
  /** Part of the streams that the inputs have in common, and number of inputs. */
  readonly part: number;
  readonly inputs: number;
  /** Parts of the outputs, undefined for all streams. */
  readonly parts: readonly (number | undefined)[];
}

function recordsIn(bytes: Uint8Array, field: 'inputs' | 'added') {
  const texts = JSON.parse(Buffer.from(bytes).toString())[field] as readonly string[];
  return texts.map(text => decodeRecord(TENANT, DAY, Buffer.from(text, 'base64')));
}

/** Calls of functions, with what they merge. */
function watching(fails: (number: number) => boolean = () => false) {
  const seen: SeenMerge[] = [];
  let calls = 0;
  const around: Around = async (call, task) => {
    const number = calls++;
    const answer = await call();
    if (fails(number)) throw new Error('the function is lost');
    const inputs = recordsIn(task, 'inputs');
    const part = commonPart(inputs.map(({ streamPart = 1 }) => streamPart));
    const parts = recordsIn(answer, 'added').map(({ streamPart }) => streamPart);
    seen.push({ part, inputs: inputs.length, parts });
    return answer;
  };
  return { around, seen };
}

const compact = (world: World, around: Around) =>
  world.compact(DAY, false, world.process(new Fuse(), world.helping(8, around)).compactor);

const textOf = ({ part, inputs, parts }: SeenMerge) => `${inputs} of ${part} -> ${parts.join(' ')}`;

describe('the day of a large tenant', () => {
  test('is divided by the merges of pushes. Each part of the hour is one merge', async () => {
    const world = await worldOf([200, 200, 200, 200]);
    const stored = await world.stored();
    const { around, seen } = watching();
    await compact(world, around);
    const texts = seen.map(textOf);
    expect(texts.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => '3 of 1 -> 4 5 6 7'));
    expect(texts.slice(4, 8).sort()).toEqual([4, 5, 6, 7].map(part => `4 of ${part} -> ${part}`));
    // The day is so small that its parts become one chunk in the end.
    expect(texts.slice(8)).toEqual(['4 of 1 -> ']);
    expect(await world.stored()).toEqual(stored);
  });

  test('is divided by a process with one thread, if it is configured', async () => {
    const partsOf = async (dividesStreams?: boolean) => {
      const world = await worldOf([200, 200, 200, 200], { dividesStreams });
      const stored = await world.stored();
      const { catalog } = world.plain;
      const swap = catalog.swap.bind(catalog);
      const parts: (number | undefined)[][] = [];
      catalog.swap = swapped => {
        parts.push(swapped.added.map(({ streamPart }) => streamPart));
        return swap(swapped);
      };
      await world.compact(DAY);
      expect(await world.stored()).toEqual(stored);
      return parts;
    };
    const divided = await partsOf(true);
    expect(divided.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => [4, 5, 6, 7]));
    expect(divided.slice(4, 8)).toEqual([[4], [5], [6], [7]]);
    expect((await partsOf()).flat().every(part => part === undefined)).toBe(true);
  });

  test('keeps each row once if functions are lost', async () => {
    for (const lost of [0, 3, 5]) {
      const world = await worldOf([200, 200, 200, 200]);
      const stored = await world.stored();
      const { around, seen } = watching(number => number === lost);
      await compact(world, around);
      expect(seen.some(({ parts }) => parts.length > 1)).toBe(true);
      expect(await world.stored()).toEqual(stored);
      expect((await world.plain.catalog.day(TENANT, DAY))!.records).toHaveLength(1);
    }
  });

  test('has more parts when it grows. Chunks of fewer parts are merged apart', async () => {
    const world = await worldOf([100, 400, 400, 400, 400, 400]);
    const stored = await world.stored();
    const { around, seen } = watching();
    await compact(world, around);
    const texts = seen.map(textOf);
    const eighths = Array.from({ length: 8 }, (_, i) => 8 + i);
    const divided = texts.filter(text => text.startsWith('3 of 1'));
    expect(divided.sort()).toEqual(
      ['3 of 1 -> 2 3', ...Array.from({ length: 5 }, () => `3 of 1 -> ${eighths.join(' ')}`)].sort(),
    );
    for (const part of eighths) expect(texts).toContain(`5 of ${part} -> ${part}`);
    expect(await world.stored()).toEqual(stored);
  });

  test('keeps each row once if some records have no part, as in a rebuilt catalog', async () => {
    const world = await worldOf([200, 200, 200, 200]);
    const stored = await world.stored();
    const { catalog } = world.plain;
    const untilMs = world.clock.nowMs() + 1000;
    let calls = 0;
    const firstMerges: Around = async call => {
      const answer = await call();
      // The time of this run is up after the merges of pushes.
      if (++calls === 4) world.clock.advance(1000);
      return answer;
    };
    const { compactor } = world.process(new Fuse(), world.helping(4, firstMerges));
    await compactor.compactDay({ tenant: TENANT, day: DAY, untilMs, signal: new AbortController().signal });
    const { records, ...day } = (await catalog.day(TENANT, DAY))!;
    expect(records.map(({ streamPart }) => streamPart).sort()).toEqual(
      [4, 5, 6, 7].flatMap(part => [part, part, part, part]),
    );
    const lease = (await catalog.leases.take(dayLease(TENANT, DAY), 60_000))!;
    const updated = records
      .filter((_, i) => i % 5 === 0)
      .map(record => ({ ...record, streamPart: undefined }));
    await catalog.swap({ tenant: TENANT, day, lease, removed: [], added: [], updated, graceMs: 0 });
    await catalog.leases.release(lease);
    const { around, seen } = watching();
    await compact(world, around);
    // A quarter of the chunks may have any stream, so all are merged together.
    expect(seen.map(textOf)).toEqual(['16 of 1 -> ']);
    expect(await world.stored()).toEqual(stored);
  });
});

/**
 * For any order of pushes, merges, deletes, kills and repeats, the visible entries are those of a plain model
 * at every moment. In the end, nothing else is stored.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_MINUTE, NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import type { DeleteRequest } from '../../../shared/storage/catalog/delete-request.ts';
import type { RowDrops } from '../../../shared/upkeep/compaction/row-drops.ts';
import { TINY_MERGE_SIZES } from '../../support/merge-sizes.ts';
import { type DatedEntry, identityOf } from '../../support/pushes.ts';
import { DAY, Fuse, KilledError, makeWorld, type World, type WorldOptions } from './world.ts';

const DAYS = [DAY, DAY + 1];

/** Requests, and what they match in plain words. */
const QUERIES: readonly { readonly query: string; matches(entry: DatedEntry): boolean }[] = [
  { query: '{app="a"}', matches: ({ stream }) => stream.app === 'a' },
  { query: '{app=~".+"} |= "even"', matches: ({ line }) => line.includes('even') },
  {
    query: '{app="b"} | user="x"',
    matches: ({ stream, metadata }) => stream.app === 'b' && metadata.user === 'x',
  },
  {
    query: '{pod="1"} | logfmt | n>5',
    matches: ({ stream, line }) => stream.pod === '1' && Number(/n=(\d+)/.exec(line)?.[1] ?? 0) > 5,
  },
];

type Step =
  | { readonly kind: 'push'; readonly entries: readonly DatedEntry[] }
  | { readonly kind: 'repeat'; readonly which: number }
  | {
      readonly kind: 'create';
      readonly which: number;
      readonly fromHour: number;
      readonly hours: number;
      readonly day: number;
    }
  | { readonly kind: 'cancel'; readonly which: number }
  | {
      readonly kind: 'compact' | 'delete';
      readonly day: number;
      readonly force: boolean;
      /** Calls of ports until the process is killed. */
      readonly calls: number;
      readonly isApplied: boolean;
    }
  /** A push that is committed in a later step. */
  | { readonly kind: 'begin'; readonly entries: readonly DatedEntry[] }
  | { readonly kind: 'commit' }
  | { readonly kind: 'wait'; readonly minutes: number };

const arbitraryEntry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
  day: fc.constantFrom(...DAYS),
  time: fc
    .tuple(fc.constantFrom(0, 1, 2, 23), fc.constantFrom(0, 1, 1801), fc.constantFrom(0, 1))
    .map(([hour, second, ns]) => (hour * 3600 + second) * 1e9 + ns),
  line: fc.constantFrom('', 'even', 'odd', 'n=3', 'n=7 even'),
  metadata: fc.dictionary(fc.constantFrom('trace', 'user'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
});

const calls = fc.oneof(fc.constant(100_000), fc.integer({ min: 1, max: 60 }));

const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(arbitraryEntry, { minLength: 1, maxLength: 6 })
      .map((entries): Step => ({ kind: 'push', entries })),
  },
  {
    weight: 3,
    arbitrary: fc
      .array(arbitraryEntry, { minLength: 1, maxLength: 6 })
      .map((entries): Step => ({ kind: 'begin', entries })),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'commit' }) },
  { weight: 2, arbitrary: fc.nat(20).map((which): Step => ({ kind: 'repeat', which })) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      which: fc.nat(QUERIES.length - 1),
      day: fc.constantFrom(...DAYS),
      fromHour: fc.nat(3),
      hours: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.nat(5).map((which): Step => ({ kind: 'cancel', which })) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('compact' as const, 'delete' as const, 'delete' as const),
      day: fc.constantFrom(...DAYS),
      force: fc.boolean(),
      calls,
      isApplied: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(0.5, 2, 12, 61).map((minutes): Step => ({ kind: 'wait', minutes })),
  },
);

/** An entry as it was pushed once. */
interface Copy {
  readonly entry: DatedEntry;
  /** Unix ms at which the writing began. */
  readonly begunMs: number;
}

interface Pending {
  readonly copies: readonly Copy[];
  commit(): Promise<void>;
}

class Model {
  /** Pushes that were begun and not committed. */
  readonly pending: Pending[] = [];
  readonly pushes: (readonly DatedEntry[])[] = [];
  readonly copies: Copy[] = [];
  /** Entries that each request matches, by request ID. */
  readonly matches = new Map<string, (entry: DatedEntry) => boolean>();

  left(requests: readonly DeleteRequest[]): string[] {
    const left = this.copies.filter(copy => !requests.some(request => this.#covers(request, copy)));
    return [...new Set(left.map(({ entry }) => identityOf(entry)))].sort();
  }

  #covers({ id, startNs, endNs, sealedMs }: DeleteRequest, { entry, begunMs }: Copy): boolean {
    const ns = BigInt(entry.day) * NS_PER_DAY + BigInt(entry.time);
    const isStored = sealedMs === undefined || begunMs <= sealedMs;
    return isStored && startNs <= ns && ns <= endNs && this.matches.get(id)!(entry);
  }
}

async function take(world: World, model: Model, step: Step): Promise<void> {
  const { clock } = world;
  const push = async (entries: readonly DatedEntry[]) => {
    model.copies.push(...entries.map(entry => ({ entry, begunMs: clock.nowMs() })));
    model.pushes.push(entries);
    await world.push(entries);
  };
  switch (step.kind) {
    case 'push':
      return push(step.entries);
    case 'repeat':
      if (model.pushes.length > 0) await push(model.pushes[step.which % model.pushes.length]);
      return;
    case 'create': {
      const startNs = BigInt(step.day) * NS_PER_DAY + BigInt(step.fromHour) * 3_600_000_000_000n;
      const endNs = startNs + BigInt(step.hours) * 3_600_000_000_000n;
      const { query, matches } = QUERIES[step.which];
      const { id } = await world.create({ query, startNs, endNs });
      model.matches.set(id, matches);
      return;
    }
    case 'cancel': {
      const waiting = (await world.requests()).filter(({ pickedUpMs }) => pickedUpMs === undefined);
      if (waiting.length > 0) await world.plain.catalog.deletes.remove(waiting[step.which % waiting.length]);
      return;
    }
    case 'begin': {
      const copies = step.entries.map(entry => ({ entry, begunMs: clock.nowMs() }));
      model.pending.push({ copies, commit: await world.slowPush(step.entries) });
      return;
    }
    case 'commit':
      return commitAll(model);
    case 'wait':
      // A later process gives up.
      if (step.minutes > 2) await commitAll(model);
      clock.advance(step.minutes * MS_PER_MINUTE);
      return;
    default: {
      const mortal = world.process(new Fuse(step.calls, step.isApplied));
      const work =
        step.kind === 'delete'
          ? world.runDeletion(mortal.deletion)
          : world.compact(step.day, step.force, mortal.compactor);
      await work.catch((error: unknown) => {
        if (!(error instanceof KilledError)) throw error;
      });
    }
  }
}

async function commitAll(model: Model): Promise<void> {
  for (const { copies, commit } of model.pending.splice(0)) {
    await commit();
    model.copies.push(...copies);
  }
}

/** Runs until every request is processed, as schedules would. */
async function settle(world: World, model: Model): Promise<void> {
  await commitAll(model);
  for (let run = 0; run < 12; run++) {
    world.clock.advance(30 * MS_PER_MINUTE);
    expect(await world.runDeletion()).toEqual({ done: true, failures: [] });
    if ((await world.requests()).every(({ processedMs }) => processedMs !== undefined)) return;
  }
  throw new Error('requests are not processed');
}

async function checkHistories(options: WorldOptions, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryStep, { minLength: 5, maxLength: 40 }),
      fc.constantFrom(0, 4096),
      fc.constantFrom(2, 70),
      fc.constantFrom(undefined, TINY_MERGE_SIZES),
      async (steps, inlineMaxBytes, batchSize, mergeSizes) => {
        const world = makeWorld({ inlineMaxBytes, batchSize, mergeSizes, ...options });
        const model = new Model();
        for (const step of steps) {
          await take(world, model, step);
          expect(await world.seen()).toEqual(model.left(await world.requests()));
        }
        await settle(world, model);
        const left = model.left(await world.requests());
        expect(await world.seen()).toEqual(left);
        expect(await world.stored()).toEqual(left);
        // A merge of everything then changes nothing.
        world.clock.advance(MS_PER_MINUTE * 20);
        for (const day of DAYS) await world.compact(day, true);
        expect(await world.stored()).toEqual(left);
      },
    ),
    { numRuns, endOnFailure: true },
  );
}

test('visible entries are those of the model, and at the end nothing else is stored', async () => {
  await checkHistories({}, 100);
});

test('the same if other functions merge for the one that holds the day', async () => {
  await checkHistories({ helpers: 3, targetBytes: 3000 }, 40);
});

describe('a planted bug is caught:', () => {
  const nothing = (record: ChunkRecord): undefined => void record;
  test.each<[string, WorldOptions]>([
    [
      'a merge says that it applied requests and does not',
      { brokenDrops: given(drops => ({ ...drops, of: nothing })) },
    ],
    ['a look finds nothing', { brokenDrops: given(drops => ({ ...drops, deletesOf: nothing })) }],
  ])('%s', async (_, options) => {
    await expect(checkHistories(options, 400)).rejects.toThrow();
  });

  function given(change: (drops: RowDrops) => RowDrops): WorldOptions['brokenDrops'] {
    return source => ({
      dropsOf: async tenant => change(await source.dropsOf(tenant)),
      areInForce: (...asked) => source.areInForce(...asked),
      expiredBeforeNs: tenant => source.expiredBeforeNs(tenant),
    });
  }
});

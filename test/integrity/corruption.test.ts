/** Damage by seed to each part of a store in memory: a right answer or an error that names the part, never another. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { ObjectNotFoundError } from '../../shared/base/ports/object-store.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import { decodeRecord, encodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { commonPart, partOfStream } from '../../shared/storage/catalog/stream-part.ts';
import { checkChunk, MismatchError } from '../../shared/upkeep/integrity/check-chunk.ts';
import { DAY } from '../support/engine.ts';
import { answerText, batch, createWorld, SETTLED_MS, type World } from './world.ts';

/** Two chunks of a tenant that meet, one apart, one inline, and another tenant. */
async function filled(): Promise<{ world: World; key: string; inputs: string[] }> {
  const world = createWorld();
  await world.push([...batch('one', 40), ...batch('other', 20, 0, 'b')]);
  await world.push(batch('two', 40, 20_000_000_000));
  await world.push(batch('inline', 1, 90_000_000_000));
  await world.push(batch('third', 40, 5_000_000_000_000));
  await world.push(batch('one', 40), 'u');
  const inputs = await world.keys('t/chunks/');
  return { world, key: inputs[0], inputs };
}

/** Bytes of each part of an object, so that small parts are hit as often as large ones. */
type Part = 'pages' | 'footer' | 'trailer' | 'anywhere';

function placeIn(part: Part, bytes: number, share: number): number {
  const [start, end] = {
    pages: [0, Math.floor(bytes / 2)],
    footer: [Math.floor(bytes / 2), bytes - 12],
    trailer: [bytes - 12, bytes],
    anywhere: [0, bytes],
  }[part];
  return start + Math.floor(share * (end - start));
}

const share = fc.double({ min: 0, max: 0.999, noNaN: true });
type Damage =
  | { readonly kind: 'flip'; readonly part: Part; readonly share: number; readonly bits: number }
  | { readonly kind: 'truncate'; readonly share: number }
  | { readonly kind: 'delete' };

const arbitraryDamage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({
    kind: fc.constant('flip' as const),
    part: fc.constantFrom<Part>('pages', 'footer', 'trailer', 'anywhere'),
    share,
    bits: fc.integer({ min: 1, max: 255 }),
  }),
  fc.record({ kind: fc.constant('truncate' as const), share }),
  fc.record({ kind: fc.constant('delete' as const) }),
);

async function damage(world: World, key: string, what: Damage) {
  if (what.kind === 'delete') return world.store.delete(key);
  return world.change(key, object => {
    if (what.kind === 'truncate') return object.subarray(0, Math.floor(what.share * object.length));
    object[placeIn(what.part, object.length, what.share)] ^= what.bits;
    return object;
  });
}

describe('a damaged chunk object', () => {
  test('gives the right result or an error that names it, and other queries are served', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryDamage, fc.nat(2), async (what, which) => {
        const { world, inputs } = await filled();
        const key = inputs[which];
        const [want, others] = [await world.ask(), await world.ask('u')];
        await damage(world, key, what);
        for (const query of ['{app=~".+"}', '{app="b"}', '{app="a"} |= "one"', '{app="a"} |= "third"']) {
          const filter = / \|= "(.*)"/.exec(query)?.[1] ?? '';
          const app = /"([ab])"/.exec(query)?.[1] ?? '';
          const right = want.filter(text => text.includes(filter) && text.includes(`{app="${app}`));
          const got = await world.ask('t', query).catch((error: Error) => error);
          if (!(got instanceof Error)) expect(got).toEqual(right);
          else {
            refused++;
            expect(got instanceof CorruptionError || got instanceof ObjectNotFoundError).toBe(true);
            expect(got.message).toContain(key);
          }
        }
        expect(await world.ask('u')).toEqual(others);
        const { problems } = await world.check();
        expect(problems.map(({ where }) => where)).toEqual([key]);
      }),
      { numRuns: 150 },
    );
    expect(refused).toBeGreaterThan(50);
  });

  test('is not merged: compaction fails, leaves it unchanged and merges the others', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryDamage, async what => {
        const { world, key } = await filled();
        await damage(world, key, what);
        const before = await world.parts.catalog.day('t', DAY);
        const isWhole = await world.ask().then(
          () => true,
          () => false,
        );
        const report = await world.compact().catch((error: Error) => error);
        if (isWhole) return;
        expect(report).toBeInstanceOf(Error);
        const after = await world.parts.catalog.day('t', DAY);
        const names = (day: typeof before) => day?.records.map(({ id }) => id) ?? [];
        const damaged = key.slice(key.lastIndexOf('/') + 1);
        expect(names(after)).toHaveLength(2);
        expect(names(after).filter(id => names(before).includes(id))).toEqual([damaged]);
        expect(await world.parts.catalog.garbage.all()).not.toContain(key);
        const rowsOf = (day: typeof before) => day?.records.reduce((sum, { rows }) => sum + rows, 0);
        expect(rowsOf(after)).toBe(rowsOf(before));
      }),
      { numRuns: 60 },
    );
  });

  test('reports damage in a rebuilt index, and serves the rest', async () => {
    const { world, inputs } = await filled();
    await world.change(inputs[0], object => object.subarray(0, 100));
    await world.loseTable();
    const { problems } = await world.rebuild();
    expect(problems.map(({ where }) => where)).toEqual([inputs[0]]);
    const want = [...batch('two', 40, 20_000_000_000), ...batch('third', 40, 5_000_000_000_000)];
    expect(await world.ask()).toEqual(want.map(answerText).sort());
  });
});

describe('a damaged record', () => {
  test('fails with an error, never an answer without its chunk', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(3),
        share,
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (which, at, bits, cut) => {
          const { world } = await filled();
          const others = await world.ask('u');
          let seen = 0;
          const writes = world.journal.map(group =>
            group.map(write => {
              if (write.kind !== 'put' || !write.item.pk.startsWith('c/t/') || seen++ !== which) return write;
              const body = Buffer.from(write.item.body);
              const offset = Math.floor(at * body.length);
              body[offset] ^= bits;
              return { ...write, item: { ...write.item, body: cut ? body.subarray(0, offset) : body } };
            }),
          );
          await world.setTable(writes);
          const failure = await world.ask().catch((error: Error) => error);
          expect(failure).toBeInstanceOf(CorruptionError);
          expect((failure as Error).message).toMatch(/^chunk record of t, day 20000: /);
          expect(await world.ask('u')).toEqual(others);
          const { problems, orphans } = await world.check();
          expect(problems.map(({ where }) => where)).toEqual(['records of t, day 20000']);
          expect(orphans).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('records of older versions', () => {
  test('are read: 1 had no checksum, 2 no time, 4 no origin; but not one of another version whose version was damaged', async () => {
    const { world } = await filled();
    const records = (await world.parts.catalog.day('t', DAY))!.records;
    const without = (body: Buffer, at: number) =>
      Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
    const summed = (version: number, body: Buffer) => {
      const sum = Buffer.alloc(4);
      body[0] = version;
      sum.writeUInt32LE(crc32(body));
      return Buffer.concat([body, sum]);
    };
    for (const record of records) {
      const body = encodeRecord(record);
      // The byte after version and ID, which marks the ID as the origin.
      const fourth = without(body.subarray(0, -4), 17);
      expect(decodeRecord('t', DAY, summed(4, fourth))).toEqual(record);
      // The byte that is 0.
      const other = without(encodeRecord({ ...record, asOfMs: 1 }), 17);
      const time = fourth.findIndex((byte, i) => i > 0 && byte !== other[i]);
      const first = without(fourth, time);
      expect(decodeRecord('t', DAY, summed(2, first))).toEqual(record);
      first[0] = 1;
      expect(decodeRecord('t', DAY, first)).toEqual(record);
      for (const version of [1, 2, 3, 4, 5]) {
        body[0] = version;
        expect(() => decodeRecord('t', DAY, body)).toThrow(CorruptionError);
      }
    }
    expect(new Set(records.map(({ inline }) => inline === undefined)).size).toBe(2);
  });
});

test('a record names the part of the streams that its chunk has, or the check says which stream is in another', async () => {
  const { world } = await filled();
  const [record] = (await world.parts.catalog.day('t', DAY))!.records.filter(one => one.inline === undefined);
  const { streams } = await readFooter(world.store, record);
  const bits = 8;
  const own = commonPart(streams.map(stream => partOfStream(stream, bits)));
  const check = (streamPart: number) =>
    checkChunk(world.store, { ...record, streamPart }, { objectBytes: record.storedBytes, full: false });
  await check(own);
  await expect(check(own ^ 1)).rejects.toThrow(MismatchError);
  await expect(check(own ^ 1)).rejects.toThrow(streams[0].text);
});

describe('a damaged index object', () => {
  test('changes no answer, and the doctor finds it', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryDamage, async what => {
        const { world } = await filled();
        const want = await world.ask();
        expect(await world.sync()).toBe('synced');
        const [key] = await world.keys('t/index/');
        await damage(world, key, what);
        expect(await world.ask()).toEqual(want);
        const { problems } = await world.check();
        expect(problems.map(({ kind, where }) => [kind, where])).toEqual([['index', key]]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the check', () => {
  test('the check of a sound store finds nothing, while it is merged and collected too', async () => {
    const { world } = await filled();
    await world.sync();
    expect(await world.check()).toMatchObject({
      problems: [],
      orphans: [],
      totals: { tenants: 2, days: 2, chunks: 5, inlineChunks: 1, rows: 181, objects: 5, problems: 0 },
    });
    await world.compact();
    expect((await world.check()).problems).toEqual([]);
    world.clock.advance(24 * 3_600_000);
    await world.collect();
    expect(await world.check()).toMatchObject({ problems: [], orphans: [] });
  });

  test('reports orphans once no commit can be in progress, of unknown days too', async () => {
    const { world, key } = await filled();
    const ids = ['0'.repeat(32), key.slice(-32)];
    const strays = [key.slice(0, -32) + ids[0], `nobody/chunks/3/0/${ids[1]}`];
    for (const stray of strays) await world.store.putIfAbsent(stray, Buffer.from('x'));
    const where = async () => (await world.check()).orphans.map(one => one.where);
    expect(await where()).toEqual([strays[0]]);
    world.clock.advance(SETTLED_MS);
    expect(await where()).toEqual(strays);
    expect((await world.check()).totals.problems).toBe(0);
  });

  test('quick: sizes and footers, not pages', async () => {
    const { world, inputs } = await filled();
    await world.change(inputs[0], object => {
      object[3] ^= 1;
      return object;
    });
    await world.change(inputs[1], object => Buffer.concat([object, Buffer.alloc(1)]));
    expect((await world.check(false)).problems.map(({ where }) => where)).toEqual([inputs[1]]);
    const kinds = (await world.check(true)).problems.map(({ kind, where }) => [where, kind]);
    expect(new Map(kinds as [string, string][])).toEqual(
      new Map([
        [inputs[0], 'corrupt'],
        [inputs[1], 'mismatch'],
      ]),
    );
  });
});

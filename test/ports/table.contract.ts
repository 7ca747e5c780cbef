/**
 * Requirements of every table: run on memory, on SQLite, and on DynamoDB. Each test uses separate partitions,
 * so a table may hold other items.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { type VirtualClock, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import {
  type Condition,
  ConditionFailedError,
  type Item,
  type ItemHead,
  MAX_ITEM_BODY_BYTES,
  MAX_TRANSACTION_ITEMS,
  type QueryOptions,
  type Table,
  type Write,
} from '../../shared/base/ports/table.ts';

export interface TableUnderTest {
  readonly table: Table;
  /** Another table on the same data, as another process would open it. Absent if there is none (memory). */
  readonly another?: () => Promise<Table>;
  readonly close?: () => Promise<void>;
}

interface TableContractOptions {
  /** Rounds of the property tests. */
  readonly rounds?: number;
}

const ABSENT: Condition = { kind: 'absent' };
const PRESENT: Condition = { kind: 'present' };
const atVersion = (version: number): Condition => ({ kind: 'version', version });

/** The clock decides what has expired. It starts after the real time, so that no real time to live interferes. */
export function tableContract(
  name: string,
  open: (clock: Clock) => Promise<TableUnderTest>,
  { rounds = 100 }: TableContractOptions = {},
): void {
  describe(`table contract: ${name}`, () => {
    let clock: VirtualClock;
    let underTest: TableUnderTest;
    let table: Table;
    beforeAll(async () => {
      clock = virtualClock();
      underTest = await open(clock);
      table = underTest.table;
    });
    afterAll(async () => underTest.close?.());

    const newPartition = (): string => `p-${randomBytes(8).toString('hex')}`;
    const nowSeconds = (): number => Math.floor(clock.nowMs() / 1000);
    const failedIndex = async (work: Promise<unknown>): Promise<number | undefined> => {
      try {
        await work;
        return undefined;
      } catch (error) {
        if (error instanceof ConditionFailedError) return error.index;
        throw error;
      }
    };
    const queryAll = async (pk: string, options: QueryOptions = {}): Promise<Item[]> => {
      const items: Item[] = [];
      let after = options.after;
      for (let page = 0; page < 5000; page++) {
        const answer = await table.query(pk, { ...options, after });
        expect(answer.items.length).toBeLessThanOrEqual(options.limit ?? 1000);
        items.push(...answer.items);
        if (answer.next === undefined) return items;
        after = answer.next;
      }
      throw new Error('the query does not end');
    };

    test('an item is there as it was put', async () => {
      const pk = newPartition();
      const bodies = [
        new Uint8Array(0),
        new Uint8Array([0, 255, 7]),
        Buffer.from('0123456789').subarray(2, 5),
      ];
      for (const [i, body] of bodies.entries()) {
        const item = { pk, sk: `s${i}`, version: i, body };
        await table.put(item);
        expect(plain(await table.get(item))).toEqual(plain(item));
      }
      const withExpiry = {
        pk,
        sk: 'e',
        version: Number.MAX_SAFE_INTEGER,
        body: bodies[1],
        expiresAt: nowSeconds() + 60,
      };
      await table.put(withExpiry);
      expect(plain(await table.get(withExpiry))).toEqual(plain(withExpiry));
      expect(await table.get({ pk, sk: 'missing' })).toBeUndefined();
      expect(await table.get({ pk: newPartition(), sk: 's0' })).toBeUndefined();
    });

    test('a put replaces everything, the expiry too', async () => {
      const pk = newPartition();
      await table.put({ ...itemOf(pk, 'a', 1), expiresAt: nowSeconds() + 10 });
      await table.put(itemOf(pk, 'a', 2));
      expect(plain(await table.get({ pk, sk: 'a' }))).toEqual(plain(itemOf(pk, 'a', 2)));
    });

    test('conditions of a put and of a delete', async () => {
      const cases: [number | undefined, Condition | undefined, boolean][] = [
        [undefined, undefined, true],
        [undefined, ABSENT, true],
        [undefined, PRESENT, false],
        [undefined, atVersion(0), false],
        [3, undefined, true],
        [3, ABSENT, false],
        [3, PRESENT, true],
        [3, atVersion(3), true],
        [3, atVersion(2), false],
        [0, atVersion(0), true],
      ];
      for (const [stored, condition, holds] of cases) {
        const pk = newPartition();
        for (const sk of ['put', 'delete', 'transact'])
          if (stored !== undefined) await table.put(itemOf(pk, sk, stored));
        const want = holds ? undefined : 0;
        expect(await failedIndex(table.put(itemOf(pk, 'put', 9), condition))).toBe(want);
        expect(await failedIndex(table.delete({ pk, sk: 'delete' }, condition))).toBe(want);
        const write: Write = { kind: 'put', item: itemOf(pk, 'transact', 9), condition };
        expect(await failedIndex(table.transact([write]))).toBe(want);
        expect((await table.get({ pk, sk: 'put' }))?.version).toBe(holds ? 9 : stored);
        expect((await table.get({ pk, sk: 'delete' }))?.version).toBe(holds ? undefined : stored);
        expect((await table.get({ pk, sk: 'transact' }))?.version).toBe(holds ? 9 : stored);
      }
    });

    test('a transaction with a failing condition writes nothing and names its place', async () => {
      const pk = newPartition();
      await table.put(itemOf(pk, 'old', 1));
      const writes = (middle: Condition, last: Condition): Write[] => [
        { kind: 'put', item: itemOf(pk, 'new', 1), condition: ABSENT },
        { kind: 'delete', key: { pk, sk: 'old' }, condition: middle },
        { kind: 'check', key: { pk, sk: 'guard' }, condition: last },
      ];
      expect(await failedIndex(table.transact(writes(atVersion(2), ABSENT)))).toBe(1);
      expect(await failedIndex(table.transact(writes(atVersion(1), PRESENT)))).toBe(2);
      expect(await failedIndex(table.transact(writes(ABSENT, PRESENT)))).toBe(1);
      expect((await queryAll(pk)).map(item => item.sk)).toEqual(['old']);
      expect(await failedIndex(table.transact(writes(atVersion(1), ABSENT)))).toBeUndefined();
      expect((await queryAll(pk)).map(item => item.sk)).toEqual(['new']);
    });

    test('a transaction may span partitions; an empty one does nothing', async () => {
      const [a, b] = [newPartition(), newPartition()];
      await table.transact([a, b].map(pk => ({ kind: 'put', item: itemOf(pk, 'x', 1) }) as const));
      expect([
        (await table.get({ pk: a, sk: 'x' }))?.version,
        (await table.get({ pk: b, sk: 'x' }))?.version,
      ]).toEqual([1, 1]);
      await table.transact([]);
    });

    test('100 writes in a transaction, 101 refused', async () => {
      const pk = newPartition();
      const puts = (count: number): Write[] =>
        Array.from({ length: count }, (_, i) => ({
          kind: 'put',
          item: itemOf(pk, `i${i}`, i),
          condition: ABSENT,
        }));
      await expect(table.transact(puts(MAX_TRANSACTION_ITEMS + 1))).rejects.toThrow(RangeError);
      expect(await queryAll(pk)).toHaveLength(0);
      await table.transact(puts(MAX_TRANSACTION_ITEMS));
      expect(await queryAll(pk)).toHaveLength(MAX_TRANSACTION_ITEMS);
      expect(await failedIndex(table.transact(puts(MAX_TRANSACTION_ITEMS)))).toBe(0);
    });

    test('refuses malformed or oversized writes, and writes nothing', async () => {
      const pk = newPartition();
      const body = new Uint8Array(MAX_ITEM_BODY_BYTES);
      const good = itemOf(pk, 'good', 1);
      const bad: Item[] = [
        { ...good, body: new Uint8Array(MAX_ITEM_BODY_BYTES + 1) },
        { ...good, sk: '' },
        { ...good, pk: '' },
        { ...good, sk: 's'.repeat(1025) },
        { ...good, sk: 'é'.repeat(513) },
        { ...good, pk: 'p'.repeat(2049) },
        { ...good, sk: '\udc00' },
        { ...good, sk: 'a\0' },
        { ...good, version: -1 },
        { ...good, version: 0.5 },
        { ...good, version: Number.NaN },
        { ...good, expiresAt: 1.5 },
        { ...good, expiresAt: Number.POSITIVE_INFINITY },
      ];
      for (const item of bad) {
        await expect(table.put(item)).rejects.toThrow(RangeError);
        const writes: Write[] = [
          { kind: 'put', item: { ...good, sk: 'other' } },
          { kind: 'put', item },
        ];
        await expect(table.transact(writes)).rejects.toThrow(RangeError);
      }
      const key = { pk, sk: 'twice' };
      const twice: Write[] = [
        { kind: 'put', item: itemOf(pk, 'twice', 1) },
        { kind: 'check', key, condition: ABSENT },
      ];
      await expect(table.transact(twice)).rejects.toThrow(RangeError);
      const tooLarge: Write[] = Array.from({ length: 10 }, (_, i) => ({
        kind: 'put',
        item: { ...good, sk: `l${i}`, body },
      }));
      await expect(table.transact(tooLarge)).rejects.toThrow(RangeError);
      await expect(table.query(pk, { limit: 0 })).rejects.toThrow(RangeError);
      expect(await queryAll(pk)).toHaveLength(0);
    });

    test('stores items and keys of the largest size', async () => {
      const pk = newPartition().padEnd(2048, 'p');
      const body = randomBytes(MAX_ITEM_BODY_BYTES);
      const writes = Array.from(
        { length: 8 },
        (_, i): Write => ({
          kind: 'put',
          item: { pk, sk: String(i).padEnd(1024, 's'), version: i, body },
        }),
      );
      await table.transact(writes);
      const pages: number[] = [];
      let after: string | undefined;
      do {
        const page = await table.query(pk, { after });
        for (const item of page.items) expect(Buffer.compare(item.body, body)).toBe(0);
        pages.push(page.items.length);
        after = page.next;
      } while (after !== undefined);
      expect(pages.reduce((sum, length) => sum + length)).toBe(8);
      // A page ends near 1 MB, so it holds two or three of these.
      expect(Math.max(...pages)).toBeLessThanOrEqual(3);
    });

    test('keys are compared as UTF-8 bytes and kept apart', async () => {
      const pk = newPartition();
      const sks = [
        'a',
        'A',
        'a\u0001',
        'a\u0001b',
        'ab',
        'é',
        'e\u0301',
        '\uffee',
        '😀',
        '\u{10ffff}',
        '~',
        ' ',
        '0',
        '10',
        '9',
      ];
      for (const [version, sk] of sks.entries()) await table.put(itemOf(pk, sk, version));
      expect((await queryAll(pk)).map(item => item.sk)).toEqual(sks.toSorted(compareUtf8));
      expect((await queryAll(pk, { reverse: true })).map(item => item.sk)).toEqual(
        sks.toSorted(compareUtf8).reverse(),
      );
      for (const [version, sk] of sks.entries()) expect((await table.get({ pk, sk }))?.version).toBe(version);
    });

    test('any query returns the same as a sorted list', async () => {
      const pk = newPartition();
      const letter = fc.constantFrom('a', 'b', '\u0001', 'é', '\uffee', '😀');
      const sk = fc.array(letter, { minLength: 1, maxLength: 3 }).map(letters => letters.join(''));
      const stored = fc.sample(sk, { numRuns: 60, seed: 7 });
      const model = [...new Set(stored)].sort(compareUtf8);
      for (const key of model) await table.put(itemOf(pk, key, 1));
      const bound = fc.option(fc.oneof(sk, fc.constantFrom(...model)), { nil: undefined });
      const query = fc.record({
        from: bound,
        to: bound,
        after: bound,
        reverse: fc.boolean(),
        limit: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
      });
      await fc.assert(
        fc.asyncProperty(query, async options => {
          const got = await queryAll(pk, options);
          expect(got.map(item => item.sk)).toEqual(expectedKeys(model, options));
        }),
        { numRuns: rounds },
      );
    });

    test('known pages have the same contents, and changed items are not treated as known', async () => {
      const pk = newPartition();
      const written = Array.from({ length: 30 }, (_, i) => {
        // Only the last four bytes distinguish two of them.
        const body = Buffer.concat([Buffer.alloc(i % 3, 'x'), Buffer.from(`sum${i % 10}`)]);
        return { pk, sk: `k${String(i).padStart(2, '0')}`, version: i % 2, body };
      });
      await Promise.all(written.map(item => table.put(item)));
      const options = fc.record({
        kept: fc.subarray(written.map(({ sk }) => sk)),
        changed: fc.subarray(
          written.map(({ sk }) => sk),
          { maxLength: 3 },
        ),
        expiring: fc.subarray(
          written.map(({ sk }) => sk),
          { maxLength: 1 },
        ),
        reverse: fc.boolean(),
        limit: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
      });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(options, async ({ kept, changed, expiring, ...query }) => {
          const items = await queryAll(pk, query);
          const known = new Map(items.filter(({ sk }) => kept.includes(sk)).map(item => [item.sk, item]));
          round++;
          for (const sk of changed) {
            const body = Buffer.concat([
              known.get(sk)?.body.subarray(0, -4) ?? Buffer.alloc(2),
              bodyEnd(round),
            ]);
            const item = { pk, sk, version: 0, body };
            await table.put(expiring.includes(sk) ? { ...item, expiresAt: nowSeconds() + 1e6 } : item);
          }
          const asked = {
            known: ({ sk, version, bodyBytes, bodyEnd: end }: ItemHead) => {
              const item = known.get(sk);
              if (item?.version !== version || item.body.length !== bodyBytes) return undefined;
              return Buffer.from(item.body.subarray(-4)).toString('hex').toUpperCase() === end
                ? item
                : undefined;
            },
          };
          const got = await queryAll(pk, { ...query, ...asked });
          expect(got.map(plain)).toEqual((await queryAll(pk, query)).map(plain));
        }),
        { numRuns: rounds },
      );
    });

    test('any sequence of writes leaves the same content as a map', async () => {
      const sk = fc.constantFrom('a', 'b', 'c', 'd');
      const version = fc.integer({ min: 0, max: 2 });
      const condition: fc.Arbitrary<Condition | undefined> = fc.oneof(
        fc.constantFrom(undefined, ABSENT, PRESENT),
        version.map(atVersion),
      );
      const step = fc.record({ kind: fc.constantFrom('put', 'delete', 'check'), sk, version, condition });
      const transaction = fc.uniqueArray(step, { minLength: 1, maxLength: 4, selector: ({ sk }) => sk });
      await fc.assert(
        fc.asyncProperty(fc.array(transaction, { maxLength: 12 }), async transactions => {
          const pk = newPartition();
          const model = new Map<string, number>();
          for (const steps of transactions) {
            const writes = steps.map(({ kind, sk: key, version: next, condition: must }): Write => {
              if (kind === 'put') return { kind, item: itemOf(pk, key, next), condition: must };
              if (kind === 'delete') return { kind, key: { pk, sk: key }, condition: must };
              return { kind: 'check', key: { pk, sk: key }, condition: must ?? PRESENT };
            });
            expect(await failedIndex(table.transact(writes))).toBe(applyToModel(model, writes));
          }
          const left = (await queryAll(pk)).map(item => [item.sk, item.version]);
          expect(left).toEqual([...model].sort(([a], [b]) => compareUtf8(a, b)));
        }),
        { numRuns: Math.ceil(rounds / 2) },
      );
    });

    test('racing increments by version lose none', async () => {
      const key = { pk: newPartition(), sk: 'counter' };
      await table.put(itemOf(key.pk, key.sk, 0));
      const racers = 20;
      const increment = async (handle: Table): Promise<void> => {
        for (let attempt = 0; attempt < 1000; attempt++) {
          const version = (await handle.get(key))!.version;
          const next = handle.put(itemOf(key.pk, key.sk, version + 1), atVersion(version));
          if ((await failedIndex(next)) === undefined) return;
        }
        throw new Error('an increment starved');
      };
      const other = (await underTest.another?.()) ?? table;
      await Promise.all(Array.from({ length: racers }, (_, i) => increment(i % 2 === 0 ? table : other)));
      expect((await table.get(key))?.version).toBe(racers);
    });

    test('exactly one of 20 racing creations wins', async () => {
      const pk = newPartition();
      const creations = Array.from({ length: 20 }, (_, i) =>
        failedIndex(table.put(itemOf(pk, 'one', i), ABSENT)),
      );
      const failed = await Promise.all(creations);
      expect(failed.filter(index => index === undefined)).toHaveLength(1);
      expect((await table.get({ pk, sk: 'one' }))?.version).toBe(failed.indexOf(undefined));
    });

    test('writes that arrive together fail by themselves', async () => {
      const pk = newPartition();
      const results = await Promise.all([
        failedIndex(table.put(itemOf(pk, 'a', 1), ABSENT)),
        failedIndex(table.put(itemOf(pk, 'b', 1), PRESENT)),
        failedIndex(
          table.transact([
            { kind: 'put', item: itemOf(pk, 'c', 1) },
            { kind: 'check', key: { pk, sk: 'nothing' }, condition: PRESENT },
          ]),
        ),
        failedIndex(table.put(itemOf(pk, 'd', 1))),
      ]);
      expect(results).toEqual([undefined, 0, 1, undefined]);
      expect((await queryAll(pk)).map(item => item.sk)).toEqual(['a', 'd']);
    });

    test('an expired item is invisible and counts as absent, from its second on', async () => {
      const pk = newPartition();
      const expiresAt = nowSeconds() + 5;
      for (const sk of ['a', 'b', 'c', 'd']) await table.put({ ...itemOf(pk, sk, 1), expiresAt });
      await table.put(itemOf(pk, 'stays', 1));
      await clock.advance(expiresAt * 1000 - clock.nowMs() - 1);
      expect(await queryAll(pk)).toHaveLength(5);
      expect((await table.get({ pk, sk: 'a' }))?.expiresAt).toBe(expiresAt);
      await clock.advance(1);
      expect(await table.get({ pk, sk: 'a' })).toBeUndefined();
      expect((await queryAll(pk, { limit: 1 })).map(item => item.sk)).toEqual(['stays']);
      expect((await queryAll(pk, { limit: 2, reverse: true })).map(item => item.sk)).toEqual(['stays']);
      expect(await failedIndex(table.put(itemOf(pk, 'a', 2), PRESENT))).toBe(0);
      expect(await failedIndex(table.put(itemOf(pk, 'a', 2), atVersion(1)))).toBe(0);
      expect(await failedIndex(table.delete({ pk, sk: 'b' }, PRESENT))).toBe(0);
      await table.transact([
        { kind: 'put', item: itemOf(pk, 'a', 2), condition: ABSENT },
        { kind: 'check', key: { pk, sk: 'b' }, condition: ABSENT },
        { kind: 'delete', key: { pk, sk: 'c' }, condition: ABSENT },
      ]);
      expect((await queryAll(pk)).map(item => item.sk)).toEqual(['a', 'stays']);
    });

    test('another table on the same data sees every write that resolved', async () => {
      if (underTest.another === undefined) return;
      const pk = newPartition();
      const other = await underTest.another();
      for (let version = 0; version < 10; version++) {
        const [writer, reader] = version % 2 === 0 ? [table, other] : [other, table];
        await writer.put(itemOf(pk, 'x', version), version === 0 ? ABSENT : atVersion(version - 1));
        expect((await reader.get({ pk, sk: 'x' }))?.version).toBe(version);
        expect((await reader.query(pk)).items).toHaveLength(1);
      }
    });
  });
}

function itemOf(pk: string, sk: string, version: number): Item {
  return { pk, sk, version, body: Buffer.from(`${sk}@${version}`) };
}

function bodyEnd(round: number): Buffer {
  const end = Buffer.alloc(4);
  end.writeUInt32LE(round);
  return end;
}

/** Bodies as text, so that a Buffer equals the same bytes in a Uint8Array. */
function plain(item: Item | undefined): unknown {
  return item && { ...item, body: Buffer.from(item.body).toString('hex') };
}

function expectedKeys(model: readonly string[], { from, to, after, reverse }: QueryOptions): string[] {
  const inRange = model.filter(
    sk => (from === undefined || compareUtf8(sk, from) >= 0) && (to === undefined || compareUtf8(sk, to) < 0),
  );
  const ordered = reverse ? inRange.reverse() : inRange;
  if (after === undefined) return ordered;
  return ordered.filter(sk => (reverse ? compareUtf8(sk, after) < 0 : compareUtf8(sk, after) > 0));
}

/** Place of the first failed condition, else undefined and the model has the writes. */
function applyToModel(model: Map<string, number>, writes: readonly Write[]): number | undefined {
  for (const [index, { condition, ...write }] of writes.entries()) {
    const stored = model.get(write.kind === 'put' ? write.item.sk : write.key.sk);
    if (condition?.kind === 'absent' && stored !== undefined) return index;
    if (condition?.kind === 'present' && stored === undefined) return index;
    if (condition?.kind === 'version' && stored !== condition.version) return index;
  }
  for (const write of writes) {
    if (write.kind === 'put') model.set(write.item.sk, write.item.version);
    if (write.kind === 'delete') model.delete(write.key.sk);
  }
  return undefined;
}

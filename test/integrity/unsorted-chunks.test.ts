/**
 * Chunks with pages in no order: checked, found again after the loss of the catalog, renamed, and damaged. A damaged one gives the
 * right export or an error that names it.
 */
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { reportChunk } from '../../bin/cli/chunk-report.ts';
import { chunkText } from '../../bin/cli/chunk-text.ts';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { encodeExport } from '../../shared/server/http/export-format.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { Tokens } from '../../shared/storage/catalog/tokens.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { FORMAT_VERSION, SectionKind, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { collectGarbage } from '../../shared/upkeep/compaction/collector.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import type { Problem } from '../../shared/upkeep/integrity/problem.ts';
import { rebuildCatalog } from '../../shared/upkeep/integrity/rebuild-catalog.ts';
import { StoredPatterns } from '../../shared/upkeep/pattern-mining/stored-patterns.ts';
import { moveTenant } from '../../shared/upkeep/tenant-rename/move-tenant.ts';
import { testStores } from '../maintenance/store.ts';
import { withFooter, withFooterByte } from '../support/changed-footer.ts';
import { requester } from '../support/engine.ts';
import { countingIds } from '../support/manual-clock.ts';
import {
  DAY,
  FROM_NS,
  fillDay,
  inOrder,
  mergeDay,
  pushesOf,
  TENANT,
  TO_NS,
} from '../support/unsorted-day.ts';

const PUSHES = pushesOf(3, 6);
const TEXT = inOrder(PUSHES)
  .map(({ line }) => `${line}\n`)
  .join('');

const stores = testStores();
const { clock } = stores;
let record: ChunkRecord;
let object: Buffer;

beforeAll(async () => {
  const process = stores.process(1);
  await fillDay(process, stores, PUSHES);
  const { records } = (await process.catalog.day(TENANT, DAY))!;
  expect(records).toHaveLength(1);
  [record] = records;
  object = await stores.store.get(keyOfChunk(record));
  expect(footerOf(object, 'merged').version).toBe(FORMAT_VERSION);
  await clock.advance(3_600_000);
});

/** Marks an object that the catalog does not know. */
const UNKNOWN = {} as ChunkRecord;

/** A store that has nothing but the object. */
async function storeOf(bytes: Buffer, known = record) {
  const store = memoryObjectStore();
  await store.putIfAbsent(keyOfChunk(record), bytes);
  const table = memoryTable({ clock });
  const catalog = new Catalog({ table, clock, ids: countingIds() });
  if (known !== UNKNOWN) await catalog.addChunks([known]);
  const problems: Problem[] = [];
  const report = (one: Problem) => problems.push(one);
  const parts = { catalog, store, clock };
  return {
    table,
    ...parts,
    async check() {
      problems.length = 0;
      await checkStore(parts, { full: true, report });
      return problems.map(({ kind, where }) => [kind, where]);
    },
    async rebuild() {
      problems.length = 0;
      const totals = await rebuildCatalog(parts, { includeRecent: true, forgetMissing: false, report });
      return { totals, problems: problems.map(({ where }) => where) };
    },
    async export(tenant = TENANT): Promise<string> {
      const engine = new QueryEngine({ catalog, source: new ChunkSource(store), clock });
      const parsed = parseQuery('{app=~".+"}');
      const asked = {
        startNs: FROM_NS,
        endNs: TO_NS,
        text: '',
        expr: parsed as never,
        maxBytes: 1e7,
        hasLabels: false,
      };
      return engine.export(asked, requester({ tenants: [tenant] }), async rows => {
        const { body } = await encodeExport(rows, 'text', async () => undefined);
        return Buffer.from(body).toString();
      });
    },
  };
}

test('the doctor finds it sound, and the catalog is rebuilt with the same record', async () => {
  const world = await storeOf(object, UNKNOWN);
  expect(await world.rebuild()).toMatchObject({ totals: { added: 1, unreadable: 0 }, problems: [] });
  const { records } = (await world.catalog.day(TENANT, DAY))!;
  // Delete requests may have to be applied again.
  expect(records).toEqual([{ ...record, asOfMs: expect.any(Number) }]);
  expect(await world.check()).toEqual([]);
  expect(await world.export()).toBe(TEXT);
});

test('a tenant with it is moved', async () => {
  const world = await storeOf(object);
  const parts = {
    ...world,
    usage: new UsageRecords(world.table),
    tokens: new Tokens({ table: world.table }),
  };
  await moveTenant(parts, { from: TENANT, to: 'other', graceMs: 1000 });
  expect(await world.export('other')).toBe(TEXT);
  expect(await world.export()).toBe('');
  expect(await world.check()).toEqual([]);
});

/** The object with other bytes as its section of a kind, and right checksums. */
function withSection(kind: number, section: Buffer): Buffer {
  const end = object.length - record.footerBytes;
  const block = {
    offset: end,
    storedBytes: section.length,
    rawBytes: section.length,
    codec: 0,
    crc: crc32(section),
  };
  const changed = withFooter(object, ({ sections }) => ({
    sections: sections.map(one => (one.kind === kind ? { kind, block } : one)),
  }));
  return Buffer.concat([object.subarray(0, end), section, changed.subarray(end)]);
}

describe('a section with right checksums', () => {
  /** One stored block: version, codec, raw bytes; then templates and parts. */
  const patterns = (...body: readonly number[]) => Buffer.from([1, 0, body.length, ...body]);
  const { summaries, patterns: patternKind } = SectionKind;
  test.each<[string, number, Buffer]>([
    ['summaries of too few pages', summaries, Buffer.from([1, 0, 0])],
    ['summaries that name a missing text', summaries, Buffer.from([1, 0, 99, 1, 5, 0, 0])],
    ['patterns with more templates than bytes', patternKind, patterns(0xff, 0xff, 0xff, 0x7f)],
    ['patterns of too few pages', patternKind, patterns(0, 1, 0)],
    ['patterns of bytes that are none', patternKind, Buffer.from([1, 0, 50])],
  ])('is found by the doctor: %s', async (_, kind, section) => {
    const bytes = withSection(kind, section);
    const footerBytes = bytes.readUInt32LE(bytes.length - TRAILER_BYTES) + TRAILER_BYTES;
    const world = await storeOf(bytes, { ...record, storedBytes: bytes.length, footerBytes });
    expect(await world.check()).toEqual([['corrupt', keyOfChunk(record)]]);
    expect(await world.export()).toBe(TEXT);
    await expectRepaired(world);
  });

  test.each([
    ['has runs that the page has not', [99, 1, 1, 0, 1, 0, 1]],
    ['names a template that is not there', [0, 1, 1, 0xff, 0x7f, 1, 0, 1]],
    ['ends within a run', [0, 1, 1]],
  ])('is found by the doctor: a part that %s', async (_, part) => {
    const { pages } = footerOf(object, 'merged');
    const parts = [...pages.keys()].flatMap(page => (page === 1 ? [part.length, ...part] : [0]));
    const bytes = withSection(patternKind, patterns(1, 1, 0x61, pages.length, ...parts));
    const footerBytes = bytes.readUInt32LE(bytes.length - TRAILER_BYTES) + TRAILER_BYTES;
    const known = { ...record, storedBytes: bytes.length, footerBytes };
    const world = await storeOf(bytes, known);
    // Lines are mined instead.
    const stored = new StoredPatterns(world.store);
    expect(await stored.of(known, footerOf(bytes, 'changed'))).toBeUndefined();
    expect(await world.check()).toEqual([['corrupt', keyOfChunk(record)]]);
    await expectRepaired(world);
  });

  /** A merge derives the section from the lines again. */
  async function expectRepaired(world: Awaited<ReturnType<typeof storeOf>>): Promise<void> {
    await mergeDay(world, world, { level: 3, seed: 300 });
    expect(await world.export()).toBe(TEXT);
    await clock.advance(3_600_000);
    await collectGarbage(world, { untilMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal });
    expect(await world.check()).toEqual([]);
  }
});

/** Returns the text of an export or its error. */
async function exportOf(bytes: Buffer, known = record): Promise<string | Error> {
  return (await storeOf(bytes, known)).export().catch((error: Error) => error);
}

describe('damage', () => {
  const share = fc.double({ min: 0, max: 0.99999, noNaN: true });
  const damaged: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc.oneof(
    // Half of the bytes that are changed are in footer and trailer.
    fc
      .tuple(share, fc.integer({ min: 1, max: 255 }), fc.boolean())
      .map(([at, bits, isFooter]) => (bytes: Buffer) => {
        const from = isFooter ? bytes.length - record.footerBytes : 0;
        bytes[from + Math.floor(at * (bytes.length - from))] ^= bits;
        return bytes;
      }),
    share.map(at => (bytes: Buffer) => bytes.subarray(0, Math.floor(at * bytes.length))),
    share.map(at => (bytes: Buffer) => bytes.fill(0, Math.floor(at * bytes.length))),
  );

  test('of any byte is found, and an export has the right lines or an error that names the chunk', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(damaged, async damage => {
        const bytes = damage(Buffer.from(object));
        fc.pre(!bytes.equals(object));
        const found = await exportOf(bytes);
        if (found instanceof Error) {
          refused++;
          expect(found).toBeInstanceOf(CorruptionError);
          expect(found.message).toContain(record.id);
        } else expect(found).toBe(TEXT);
        const world = await storeOf(bytes);
        expect((await world.check()).map(([, where]) => where)).toEqual([keyOfChunk(record)]);
        // Without the catalog, its record comes from the footer alone.
        const lost = await storeOf(bytes, UNKNOWN);
        const { totals, problems } = await lost.rebuild();
        expect([totals.added + totals.unreadable, problems.length]).toEqual([1, totals.unreadable]);
        try {
          const report = reportChunk(bytes, 'x');
          const isBroken = [...report.pages, ...report.sections].some(({ broken }) => broken !== undefined);
          expect(isBroken).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError);
        }
      }),
      { numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  test('of a footer with right checksums ends in an answer or in an error of the chunk', async () => {
    let answers = 0;
    await fc.assert(
      fc.asyncProperty(fc.noBias(fc.nat(1e6)), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), async (at, value) => {
        const bytes = withFooterByte(object, at, value);
        const footerBytes = bytes.readUInt32LE(bytes.length - TRAILER_BYTES) + TRAILER_BYTES;
        const known = { ...record, storedBytes: bytes.length, footerBytes };
        const world = await storeOf(bytes, known);
        const found = await exportOf(bytes, known);
        if (found === TEXT) answers++;
        if (found instanceof Error)
          expect([at, value, found instanceof CorruptionError]).toEqual([at, value, true]);
        await world.check();
        await (await storeOf(bytes, UNKNOWN)).rebuild();
        try {
          expect(chunkText(reportChunk(bytes, 'x')).length).toBeGreaterThan(0);
        } catch (error) {
          expect([at, value, error instanceof CorruptionError]).toEqual([at, value, true]);
        }
      }),
      { numRuns: 100 },
    );
    // The fast suite has a part of the runs.
    expect(answers).toBeGreaterThan(0);
  });
});

/**
 * Records made anew from the objects, for a catalog that was lost or damaged. What lay in the table alone does not come
 * back: small pushes (inline chunks), delete requests, rules; for these the table is backed up.
 *
 * A chunk that was merged into another one names it as an input, and stays for a while. It is left out where the merge
 * was surely published: some of the inputs are deleted already, which happens only after that, or the merged chunk has a
 * record. Otherwise both are taken: entries that are there twice count once, and compaction makes them one.
 */
import { keyOfChunk, readChunk } from '../catalog/chunk-object.ts';
import { type ChunkRecord, recordOf } from '../catalog/chunk-record.ts';
import { listStoredObjects, type StoredObject } from '../catalog/stored-objects.ts';
import { decodeFooter, footerLength } from '../chunk/footer-codec.ts';
import { type Footer, TRAILER_BYTES } from '../chunk/format.ts';
import { CorruptionError, messageOf } from '../model/errors.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { DoctorParts } from './check-store.ts';
import type { Problem } from './problem.ts';

export interface RebuildReport {
  /** Records written. */
  readonly added: number;
  /** Chunks with a record already. */
  readonly kept: number;
  /** Chunks that are part of others. */
  readonly merged: number;
}

/** One read gets the footers of most objects. */
const TAIL_BYTES = 256 * 1024;
/** Records committed together. */
const COMMITTED_AT_ONCE = 90;

interface FoundChunk {
  readonly footer: Footer;
  readonly storedBytes: number;
  readonly tail: Buffer;
}

/** Adds what the catalog lacks; changes no record that is there. Tells of objects that cannot be read. */
export async function rebuildCatalog(
  { catalog, store }: Pick<DoctorParts, 'catalog' | 'store'>,
  report: (problem: Problem) => void,
): Promise<RebuildReport> {
  const totals = { added: 0, kept: 0, merged: 0 };
  // Objects are listed by key, so those of a tenant's day come together.
  let ofDay: StoredObject[] = [];
  const flush = async () => {
    if (ofDay.length > 0) await rebuildDay(ofDay);
    ofDay = [];
  };
  for await (const object of listStoredObjects(store)) {
    if (object.kind !== 'chunk') continue;
    const [first] = ofDay;
    if (first !== undefined && (first.tenant !== object.tenant || first.day !== object.day)) await flush();
    ofDay.push(object);
  }
  await flush();
  return totals;

  async function rebuildDay(objects: readonly StoredObject[]): Promise<void> {
    const { tenant, day } = objects[0];
    const snapshot = await catalog.day(tenant, day);
    const known = new Set(snapshot?.records.map(({ id }) => id));
    const garbage = await catalog.garbage.all();
    const found: FoundChunk[] = [];
    for (const { key, size, id } of objects) {
      if (known.has(id)) totals.kept++;
      else if (garbage.has(key)) totals.merged++;
      else {
        const chunk = await readFound(store, key, size).catch((error: unknown) => {
          if (!(error instanceof CorruptionError || error instanceof RangeError)) throw error;
          report({ kind: 'corrupt', where: key, message: messageOf(error) });
        });
        if (chunk !== undefined) found.push(chunk);
      }
    }
    const stored = new Set(objects.map(({ id }) => id));
    const merged = new Set<string>();
    for (const { footer } of found) {
      if (footer.inputs.some(id => !stored.has(id))) for (const id of footer.inputs) merged.add(id);
    }
    for (const record of snapshot?.records ?? []) {
      for (const id of (await inputsOf(store, record)) ?? []) merged.add(id);
    }
    const records = found
      .filter(({ footer }) => !merged.has(footer.id))
      .map(({ footer, storedBytes, tail }) =>
        recordOf(footer, storedBytes, tail.length, { inline: undefined, tail }),
      );
    totals.merged += found.length - records.length;
    for (let i = 0; i < records.length; i += COMMITTED_AT_ONCE) {
      const some = records.slice(i, i + COMMITTED_AT_ONCE);
      await catalog.addChunks(some);
      totals.added += some.length;
    }
  }
}

async function readFound(store: ObjectStore, key: string, size: number): Promise<FoundChunk> {
  let { bytes } = await store.getTail(key, Math.min(size, TAIL_BYTES));
  const length = footerLength(bytes, size, key) + TRAILER_BYTES;
  if (length > bytes.length) ({ bytes } = await store.getTail(key, length));
  const tail = bytes.subarray(bytes.length - length);
  const footer = decodeFooter(tail.subarray(0, length - TRAILER_BYTES), key);
  return { footer, storedBytes: size, tail };
}

/** Undefined where the chunk cannot be read: it then proves nothing. */
async function inputsOf(store: ObjectStore, record: ChunkRecord): Promise<readonly string[] | undefined> {
  if (record.level === 0) return [];
  try {
    const { storedBytes, footerBytes } = record;
    const tail = record.footer ?? (await readChunk(store, record, storedBytes - footerBytes, storedBytes));
    return decodeFooter(tail.subarray(0, tail.length - TRAILER_BYTES), keyOfChunk(record)).inputs;
  } catch {
    return undefined;
  }
}

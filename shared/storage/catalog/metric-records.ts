/**
 * Function instances of an account, one item each: who it is, when it was heard of last, and what it has counted since it
 * began. An instance owns its item and writes its whole count each time, so a write that is lost or repeated does no
 * harm; who wants figures of all adds them up.
 *
 *     m/instances   <id>   an instance
 *     m/total       all    what instances had counted that are forgotten
 *
 * An instance ends without a word. One that was silent for FORGOTTEN_AFTER_MS is folded: its counts go into the total and its
 * item goes away, both in one transaction, so that no sum ever goes back and none counts twice. One that was only
 * asleep finds its item gone and begins a new one (shared/server/admin/function-instance.ts).
 */
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import type { Member } from './member.ts';

export interface InstanceRecord {
  readonly member: Member;
  /** Counters, encoded by whoever counts. */
  readonly figures: Uint8Array;
  /** Taken off ring pages by request; it comes back with its next write. */
  readonly isHidden?: boolean;
}

export interface StoredInstance extends InstanceRecord {
  readonly version: number;
}

export interface Total {
  /** -1: there is none yet. */
  readonly version: number;
  readonly figures: Uint8Array;
}

const INSTANCES = 'm/instances';
const TOTAL = { pk: 'm/total', sk: 'all' };
/** Silent for so long, an instance is taken for gone: Lambda ends idle ones after 5 to 15 minutes. */
export const FORGOTTEN_AFTER_MS = 15 * 60_000;
/** Should nothing fold any more: then counts are lost, and not kept for ever. */
const EXPIRES_AFTER_MS = 24 * 3_600_000;
/** Instances that are read for a page: more than an account has by default (1,000 at once). */
const MAX_INSTANCES = 5_000;
/** Of one transaction, beside the total: their figures are read and added up at once. */
export const MAX_FOLDED = 50;

export class MetricRecords {
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
  }

  /** Writes where the item has this version, -1 for one that is not there; false where it has not. */
  async write(record: InstanceRecord, version: number): Promise<boolean> {
    const { member } = record;
    const item = {
      pk: INSTANCES,
      sk: member.id,
      version: version + 1,
      body: encode(record),
      expiresAt: Math.ceil((member.heartbeatMs + EXPIRES_AFTER_MS) / 1000),
    };
    try {
      await this.#table.put(item, version < 0 ? { kind: 'absent' } : { kind: 'version', version });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }

  async read(id: string): Promise<StoredInstance | undefined> {
    const item = await this.#table.get({ pk: INSTANCES, sk: id });
    return item && { ...decode(item.body), version: item.version };
  }

  /** By id. */
  async list(): Promise<readonly StoredInstance[]> {
    const found: StoredInstance[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query(INSTANCES, { after });
      for (const { body, version } of page.items) found.push({ ...decode(body), version });
      after = page.next;
    } while (after !== undefined && found.length < MAX_INSTANCES);
    return found;
  }

  async total(): Promise<Total> {
    const item = await this.#table.get(TOTAL);
    return item === undefined
      ? { version: -1, figures: new Uint8Array(0) }
      : { version: item.version, figures: item.body };
  }

  /**
   * Puts `figures` in the place of the total and takes the instances away; false where the total or any of them has changed
   * meanwhile, and then nothing happens.
   */
  async fold(before: Total, figures: Uint8Array, instances: readonly StoredInstance[]): Promise<boolean> {
    const { version } = before;
    const put: Write = {
      kind: 'put',
      item: { ...TOTAL, version: version + 1, body: figures },
      condition: version < 0 ? { kind: 'absent' } : { kind: 'version', version },
    };
    const deletes = instances.map(
      ({ member, version }): Write => ({
        kind: 'delete',
        key: { pk: INSTANCES, sk: member.id },
        condition: { kind: 'version', version },
      }),
    );
    try {
      await this.#table.transact([put, ...deletes]);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }
}

/** Length of the JSON (u32, little endian), JSON, figures. */
function encode({ member, isHidden, figures }: InstanceRecord): Buffer {
  const head = Buffer.from(JSON.stringify({ member, isHidden }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, figures]);
}

function decode(body: Uint8Array): InstanceRecord {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const end = 4 + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, end)) as Pick<InstanceRecord, 'member' | 'isHidden'>;
  return { ...head, figures: bytes.subarray(end) };
}

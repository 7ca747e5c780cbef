/**
 * Function instances of an account, one item each: the member, the time of its last heartbeat, and its counters since
 * the start. An instance owns its item and writes all its counters each time, so a lost or repeated write does no harm.
 * A reader adds them up for totals.
 *
 *     m/instances   <id>   an instance
 *     m/total       all    counters of instances whose records are deleted
 *
 * An instance ends without notice. One that was silent for FORGOTTEN_AFTER_MS is folded: one transaction adds its
 * counters to the total and deletes its item. So no sum ever decreases, and no counter is counted twice. An instance
 * that was only idle finds its item missing and starts a new one (shared/server/admin/function-instance.ts).
 */
import { MS_PER_DAY, MS_PER_MINUTE } from '../../base/model/time-units.ts';
import { ConditionFailedError, type Table, type Write } from '../../base/ports/table.ts';
import type { Member } from './member.ts';

interface InstanceRecord {
  readonly member: Member;
  /** Counters, encoded by the instance. */
  readonly figures: Uint8Array;
  /** Removed from ring pages on request. The instance is shown again after its next write. */
  readonly isHidden?: boolean;
}

export interface StoredInstance extends InstanceRecord {
  readonly version: number;
}

export interface Total {
  /** -1 if the item does not exist yet. */
  readonly version: number;
  readonly figures: Uint8Array;
}

const INSTANCES = 'm/instances';
const TOTAL = { pk: 'm/total', sk: 'all' };
/** Time without a write after which an instance counts as ended. Lambda ends idle ones after 5 to 15 minutes. */
export const FORGOTTEN_AFTER_MS = 15 * MS_PER_MINUTE;
/** Limits storage if no process folds any more. Counters are lost then. */
const EXPIRES_AFTER_MS = MS_PER_DAY;
/** Maximum number of instances that a page reads: more than the default quota of an account (1,000 concurrent). */
const MAX_INSTANCES = 5_000;
/** Maximum number of instances in one transaction, in addition to the total. Their counters are in memory together. */
export const MAX_FOLDED = 50;

export class MetricRecords {
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
  }

  /** Writes if the item has this version, -1 for a missing item; false otherwise. */
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

  /** Ordered by ID. */
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
   * Replaces the total with `figures` and deletes the instances. False, without any change, if the total or any
   * instance changed in the meantime.
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

/** Encodes the length of the JSON (u32, little endian), the JSON, and the counters. */
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

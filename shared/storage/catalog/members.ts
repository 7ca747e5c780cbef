/**
 * Processes and function instances that share the store, each with its components. The records exist only for ring
 * pages. No component depends on them, so a late or lost record does no harm.
 *
 *     m/members   <id>   a process; it expires some time after its last heartbeat
 *
 * Function instances are stored in m/instances together with their counters (metric-records.ts).
 */
import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { Table } from '../../base/ports/table.ts';
import type { Member } from './member.ts';
import { MetricRecords } from './metric-records.ts';

export type { Member, MemberState } from './member.ts';

/** Time for which a process without a heartbeat is shown as unhealthy, before its record is deleted. */
const FORGOTTEN_AFTER_MS = MS_PER_DAY;
/** Maximum number of members that a page reads. */
const MAX_MEMBERS = 10_000;
const PARTITION = 'm/members';

export class Members {
  /** Records of function instances, with their counters. */
  readonly instances: MetricRecords;
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
    this.instances = new MetricRecords({ table });
  }

  /** Writes the current state of the process. Only the process itself calls this. */
  async put(member: Member): Promise<void> {
    const { id, ...body } = member;
    await this.#table.put({
      pk: PARTITION,
      sk: id,
      version: 0,
      body: Buffer.from(JSON.stringify(body)),
      expiresAt: Math.ceil((member.heartbeatMs + FORGOTTEN_AFTER_MS) / 1000),
    });
  }

  /** Processes, then function instances, each by ID. */
  async list(): Promise<readonly Member[]> {
    const instances = await this.instances.list();
    const shown = instances.filter(({ isHidden }) => isHidden !== true).map(({ member }) => member);
    return [...(await this.#processes()), ...shown];
  }

  async #processes(): Promise<readonly Member[]> {
    const found: Member[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query(PARTITION, { after });
      for (const { sk, body } of page.items) {
        found.push({ id: sk, ...(JSON.parse(Buffer.from(body).toString()) as Omit<Member, 'id'>) });
      }
      after = page.next;
    } while (after !== undefined && found.length < MAX_MEMBERS);
    return found;
  }

  /** Removes a member. A member that still runs comes back with its next heartbeat. */
  async remove(id: string): Promise<void> {
    const instance = await this.instances.read(id);
    // Hides the instance and keeps its counters until they are folded.
    if (instance !== undefined) await this.instances.write({ ...instance, isHidden: true }, instance.version);
    else await this.#table.delete({ pk: PARTITION, sk: id });
  }
}

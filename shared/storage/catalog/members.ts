/**
 * Processes and function instances that share the store, each with the components that it runs. Nothing depends on them:
 * they are for people who look at a ring page, so a record that is late or lost harms nothing.
 *
 *     m/members   <id>   a process; it vanishes some time after its last heartbeat
 *
 * Function instances lie in m/instances, where their counters are (metric-records.ts).
 */
import type { Table } from '../../base/ports/table.ts';
import type { Member } from './member.ts';
import { MetricRecords } from './metric-records.ts';

export type { Member, MemberState } from './member.ts';

/** A process without a heartbeat is shown as unhealthy for this long, then forgotten. */
export const FORGOTTEN_AFTER_MS = 24 * 3_600_000;
/** Members that are read for a page. */
const MAX_MEMBERS = 10_000;
const PARTITION = 'm/members';

export class Members {
  /** Those that are function instances, with what they counted. */
  readonly instances: MetricRecords;
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
    this.instances = new MetricRecords({ table });
  }

  /** Writes the process as it is now; only itself does so. */
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

  /** Processes, then function instances, each by id. */
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

  /** A member that still lives comes back with its next heartbeat. */
  async remove(id: string): Promise<void> {
    const instance = await this.instances.read(id);
    // What an instance has counted stays until it is folded.
    if (instance !== undefined) await this.instances.write({ ...instance, isHidden: true }, instance.version);
    else await this.#table.delete({ pk: PARTITION, sk: id });
  }
}

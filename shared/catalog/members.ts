/**
 * Processes and function instances that share the store, each with the components that it runs. Nothing depends on them:
 * they are for people who look at a ring page, so a record that is late or lost harms nothing.
 *
 *     m/members   <id>   a member; it vanishes some time after its last heartbeat
 */
import type { Table } from '../ports/table.ts';

export type MemberState = 'PENDING' | 'JOINING' | 'ACTIVE' | 'LEAVING';

export interface Member {
  readonly id: string;
  readonly state: MemberState;
  /** Where it can be reached; of a function, its name. */
  readonly address: string;
  /** Availability zone or region; empty where it is not known. */
  readonly zone: string;
  readonly components: readonly string[];
  readonly registeredMs: number;
  readonly heartbeatMs: number;
}

/** A member without a heartbeat is shown as unhealthy for this long, then forgotten. */
export const FORGOTTEN_AFTER_MS = 24 * 3_600_000;
/** Members that are read for a page. */
const MAX_MEMBERS = 10_000;
const PARTITION = 'm/members';

export class Members {
  private readonly table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.table = table;
  }

  /** Writes the member as it is now; only the process that it is does so. */
  async put(member: Member): Promise<void> {
    const { id, ...body } = member;
    await this.table.put({
      pk: PARTITION,
      sk: id,
      version: 0,
      body: Buffer.from(JSON.stringify(body)),
      expiresAt: Math.ceil((member.heartbeatMs + FORGOTTEN_AFTER_MS) / 1000),
    });
  }

  /** By id. */
  async list(): Promise<readonly Member[]> {
    const found: Member[] = [];
    let after: string | undefined;
    do {
      const page = await this.table.query(PARTITION, { after });
      for (const { sk, body } of page.items) {
        found.push({ id: sk, ...(JSON.parse(Buffer.from(body).toString()) as Omit<Member, 'id'>) });
      }
      after = page.next;
    } while (after !== undefined && found.length < MAX_MEMBERS);
    return found;
  }

  /** A member that still lives comes back with its next heartbeat. */
  async remove(id: string): Promise<void> {
    await this.table.delete({ pk: PARTITION, sk: id });
  }
}

/** State of a member: a process or a function instance that shares the store. */
export type MemberState = 'PENDING' | 'JOINING' | 'ACTIVE' | 'LEAVING';

export interface Member {
  readonly id: string;
  readonly state: MemberState;
  /** Address at which it can be reached; for a function, its name. */
  readonly address: string;
  /** Availability zone or region; empty if unknown. */
  readonly zone: string;
  readonly components: readonly string[];
  readonly registeredMs: number;
  readonly heartbeatMs: number;
  /** True for an instance of a function. It runs, and sends heartbeats, only while it is called. */
  readonly isFunction?: boolean;
}

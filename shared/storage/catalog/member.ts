/** One of those that share the store: a process, or a function instance of an account. */
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
  /** An instance of a function: it runs only while it is called, and is heard of only then. */
  readonly isFunction?: boolean;
}

/** Types of usage responses, separate from the requests, so that code without a browser can be tested. */
export interface UsageDay {
  /** `2026-11-21` */
  readonly day: string;
  readonly pushes: number;
  readonly lines: number;
  readonly bytes: number;
  readonly structured_metadata_bytes: number;
  readonly streams: number;
  /** Refused lines and bytes by reason. */
  readonly refused: Readonly<Record<string, { readonly lines: number; readonly bytes: number }>>;
  readonly queries: number;
  readonly query_bytes: number;
  readonly query_seconds: number;
  readonly stored_bytes: number;
  readonly cost: {
    readonly ingest: number;
    readonly storage: number;
    readonly queries: number;
    readonly total: number;
  };
}

export interface Usage {
  readonly tenant: string;
  readonly currency: string;
  /** False if `stored_bytes` is only a lower bound; repeating the request continues the count. */
  readonly stored_bytes_complete: boolean;
  readonly days: readonly UsageDay[];
}

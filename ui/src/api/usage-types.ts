/** Answers about usage: apart from what asks for them, so that what needs no browser can be tested without one. */
export interface UsageDay {
  /** `2026-11-21` */
  readonly day: string;
  readonly pushes: number;
  readonly lines: number;
  readonly bytes: number;
  readonly structured_metadata_bytes: number;
  readonly streams: number;
  /** By reason. */
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
  /** False: stored bytes are more than these; asking again goes on counting. */
  readonly stored_bytes_complete: boolean;
  readonly days: readonly UsageDay[];
}

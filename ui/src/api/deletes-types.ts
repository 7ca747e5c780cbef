/** Answers about deletes: apart from what asks for them, so that what needs no browser can be tested without one. */
export interface DeleteRequest {
  readonly id: string;
  readonly query: string;
  /** Both included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** How much of what it may touch is looked at, 0 to 1. */
  readonly share: number;
  /** Stored bytes; 0 where it is not known yet. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly createdMs: number;
  /** Undefined as long as it has not come to that. */
  readonly pickedUpMs: number | undefined;
  readonly sealedMs: number | undefined;
  readonly processedMs: number | undefined;
}

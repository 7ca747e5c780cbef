/** Types of delete responses, separate from the requests, so that code without a browser can be tested. */
export interface DeleteRequest {
  readonly id: string;
  readonly query: string;
  /** Range, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Share of the affected data that is processed, 0 to 1. */
  readonly share: number;
  /** Stored bytes; 0 if unknown. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly createdMs: number;
  /** Undefined until it happens. */
  readonly pickedUpMs: number | undefined;
  readonly sealedMs: number | undefined;
  readonly processedMs: number | undefined;
}

/** Types of relay.mjs for TypeScript. */
export interface Relay {
  readonly url: string;
  count(status: number): number;
  open(): Promise<void>;
  openWithStore(store: { readonly ended: boolean }): Promise<void>;
  close(): void;
}

export declare function statusCounter(counts: Map<string, number>): (part: Buffer) => void;

export declare function createRelay(storePort: number): Promise<Relay>;

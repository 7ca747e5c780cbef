/** Types of versions-table.mjs for TypeScript. */
export interface TestedClient {
  readonly name: string;
  readonly protocol?: string;
  readonly selector?: string;
}

export interface ClientOutcome {
  readonly client: TestedClient;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly version: string;
  readonly detail: string;
}

export declare function withVersions(
  page: string,
  run: {
    readonly clients: readonly TestedClient[];
    readonly outcomes: readonly ClientOutcome[];
    readonly lineCount: number;
  },
): string;

export interface TestResult {
  readonly name: string;
  /** Undefined if the test passed. */
  readonly error?: string;
}

export interface FileRun {
  readonly file: string;
  readonly results: readonly TestResult[];
}

export declare function resultsOf(text: string): TestResult[];
export declare function hasFailed(run: FileRun): boolean;
export declare function summaryOf(runs: readonly FileRun[]): {
  readonly passed: number;
  readonly failed: number;
  readonly lines: readonly string[];
};

/** Types of closing-line.mjs for TypeScript. */
export declare function countsOf(
  output: string,
  code: number | null,
): { readonly passed: number; readonly failed: number; readonly skipped: number };

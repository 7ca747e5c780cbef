/** Types of error-text.mjs for TypeScript. */
export declare function errorText(error: string): string;

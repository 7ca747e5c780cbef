/** Types of file-limit.mjs for TypeScript. */
export declare const MAX_FILE_MS: number;
export declare function limitFile(file: string | undefined, ms?: number): void;

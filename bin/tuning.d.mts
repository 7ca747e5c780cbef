/** Types of tuning.mjs for TypeScript. */

/** Flags of V8 that are the same on each machine. */
export declare const FIXED_FLAGS: readonly string[];

/** V8's flag for the number of V8 threads on a machine with `cores`. */
export function poolFlag(cores: number): string;

/** Environment variables for the allocator on a machine with `cores`. */
export function allocatorSettings(cores: number): Readonly<Record<string, string>>;

/** Flags for Node.js. */
export function runtimeFlags(): readonly string[];

/** Environment variables for Node.js; variables that are already set take precedence. */
export function runtimeEnvironment(): Readonly<Record<string, string>>;

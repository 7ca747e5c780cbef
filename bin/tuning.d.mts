/** Types of tuning.mjs for TypeScript. */

/** Flags for Node.js. */
export function runtimeFlags(): readonly string[];

/** Environment variables for Node.js; variables that are already set take precedence. */
export function runtimeEnvironment(): Readonly<Record<string, string>>;

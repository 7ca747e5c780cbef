/** Of runtime.mjs, what TypeScript imports. */

/** What Node is started with, for a machine with so many cores; default: this one. */
export function runtimeFlags(cores?: number): readonly string[];

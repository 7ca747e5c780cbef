/** Of runtime.mjs, what TypeScript imports. */

/** What Node is started with. */
export function runtimeFlags(): readonly string[];

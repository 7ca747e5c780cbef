/** Of runtime.mjs, what TypeScript imports. */

/** What Node is started with. */
export function runtimeFlags(): readonly string[];

/** Variables that its environment is given, unless they are set. */
export function runtimeEnvironment(): Readonly<Record<string, string>>;

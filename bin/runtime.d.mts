/** Of runtime.mjs, what TypeScript imports. */

/** What Node is started with. */
export function runtimeFlags(): readonly string[];

/** Variables that its environment is given, unless they are set. */
export function runtimeEnvironment(): Readonly<Record<string, string>>;

/** True where `version` is newer than `than` and of the same major. */
export function isLaterRelease(version: string, than: string): boolean;

export function isNewEnough(version: string): boolean;

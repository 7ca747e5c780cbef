/** Types of needed-node.cjs. */

export declare const NEEDED_NODE: string;

/** True if `version` is newer than `than` and of the same major. */
export function isLaterRelease(version: string, than: string): boolean;

export function isNewEnough(version: string): boolean;

export declare const CLIENT_COMMANDS: readonly string[];

/** @param args of the command line, with the name of the command first */
export function runsClient(version: string, args: readonly string[]): boolean;

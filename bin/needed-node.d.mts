/** Types of needed-node.mjs. */

export declare const NEEDED_NODE: string;

/** True if `version` is newer than `than` and of the same major. */
export function isLaterRelease(version: string, than: string): boolean;

export function isNewEnough(version: string): boolean;

/** The script behind the command `cdk`. */
export const CDK: string;

/** Installs where something is missing. Ends the process with a message where that fails. */
export function ensureStackInstalled(): void;

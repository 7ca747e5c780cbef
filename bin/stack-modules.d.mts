/** Script of the command `cdk`. */
export declare const CDK: string;

/** Installs packages if any is missing. Exits with a message if that fails. */
export function ensureStackInstalled(): void;

/** Environment variables of a process by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

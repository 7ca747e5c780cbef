/** Types of aws-emulators.mjs for TypeScript. */
export interface Emulator {
  readonly name: string;
  prepare(say: (line: string) => void): unknown;
}

export interface RunningEmulator {
  readonly url: string;
  /** Kills it at once, when a signal ends the process. */
  kill(): void;
  stop(): Promise<void>;
}

export const MINISTACK: Emulator;
export const DYNAMODB_LOCAL: Emulator;

export class Unavailable extends Error {}

export function startEmulator(
  emulator: Emulator,
  options: { readonly say: (line: string) => void; readonly onSpawn?: (one: RunningEmulator) => void },
): Promise<RunningEmulator>;

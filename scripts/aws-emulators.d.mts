/** Types of aws-emulators.mjs, for what is written in TypeScript. */
export interface Emulator {
  readonly name: string;
  prepare(say: (line: string) => void): unknown;
}

export interface RunningEmulator {
  readonly url: string;
  /** At once, for the end of a signal. */
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

/** Types of chromium.mjs for TypeScript. */
export const CHROMIUM_ARGUMENTS: string[];
export function findChromium(say: (line: string) => void): string | undefined;

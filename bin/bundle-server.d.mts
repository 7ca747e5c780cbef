/** Writes the bundle of the program into a folder. Resolves to the paths of its source files. */
export function bundleServer(outdir: string): Promise<string[]>;

/** Licenses of the packages whose files are in `inputs`. */
export function licensesOf(inputs: readonly string[]): string;

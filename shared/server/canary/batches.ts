/**
 * Entries of canaries. A batch is the lines of one push. Because one push of one stream is stored at once, a
 * store has a whole batch or none of it.
 *
 *     canary 5f0c2a9be1d04477 0        line 0 of a batch, at its time
 *     canary 5f0c2a9be1d04477 1        line 1, one nanosecond later
 */
export interface CanaryBatch {
  /** Unique hexadecimal name. */
  readonly name: string;
  /** Time of line 0, Unix ms. */
  readonly atMs: number;
  readonly lines: number;
}

/** Counts of found lines, by batch name and line number. */
export type FoundLines = Map<string, Map<number, number>>;

export interface BatchVerdict {
  readonly missing: number;
  /** Number of lines found more than once. */
  readonly repeated: number;
}

/** Body of a push in JSON. */
export function canaryPush(
  { name, atMs, lines }: CanaryBatch,
  stream: Readonly<Record<string, string>>,
): string {
  const firstNs = BigInt(Math.trunc(atMs)) * 1_000_000n;
  const values = Array.from({ length: lines }, (_, i) => [`${firstNs + BigInt(i)}`, `canary ${name} ${i}`]);
  return JSON.stringify({ streams: [{ stream, values }] });
}

/** `undefined` for a line that no canary wrote. */
export function parseLine(line: string): { readonly name: string; readonly number: number } | undefined {
  const [, name, number] = /^canary ([0-9a-f]+) (\d+)$/.exec(line) ?? [];
  return name === undefined ? undefined : { name, number: Number(number) };
}

export function countLines(lines: readonly string[]): FoundLines {
  const found: FoundLines = new Map();
  for (const line of lines) {
    const parsed = parseLine(line);
    if (parsed === undefined) continue;
    const counts = found.get(parsed.name) ?? new Map<number, number>();
    found.set(parsed.name, counts.set(parsed.number, (counts.get(parsed.number) ?? 0) + 1));
  }
  return found;
}

/** Compares a batch of `lines` lines with the counts of its found lines. */
export function judge(counts: ReadonlyMap<number, number> | undefined, lines: number): BatchVerdict {
  if (counts === undefined) return { missing: lines, repeated: 0 };
  let [found, repeated] = [0, 0];
  for (const [number, count] of counts) {
    if (number < lines) found++;
    if (count > 1) repeated++;
  }
  return { missing: lines - found, repeated };
}

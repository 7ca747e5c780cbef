/**
 * Reads and writes byte sizes as in LogQL and the configuration (docs/dev/logql-semantics.md#byte-sizes). A size is digits,
 * dots and commas, then a unit in any letter case; `kB` is 1000 bytes and `KiB` 1024.
 */
const UNITS = new Map<string, number>([
  ['', 1],
  ['b', 1],
]);
for (const [i, letter] of [...'kmgtpe'].entries()) {
  UNITS.set(letter, 1000 ** (i + 1));
  UNITS.set(`${letter}b`, 1000 ** (i + 1));
  UNITS.set(`${letter}i`, 1024 ** (i + 1));
  UNITS.set(`${letter}ib`, 1024 ** (i + 1));
}

/** Returns a whole number of bytes. Throws an Error with the reference's text if the text is not a size. */
export function parseByteSize(text: string): number {
  const lead = /^[\p{Nd}.,]*/u.exec(text)![0];
  const digits = lead.replaceAll(',', '');
  if (!/^(\d+\.?\d*|\.\d+)$/.test(digits)) {
    throw new Error(`strconv.ParseFloat: parsing ${JSON.stringify(digits)}: invalid syntax`);
  }
  const unit = text.slice(lead.length).trim().toLowerCase();
  const factor = UNITS.get(unit);
  if (factor === undefined) throw new Error(`unhandled size name: ${unit}`);
  const bytes = Number(digits) * factor;
  if (bytes >= 2 ** 64) throw new Error(`too large: ${text}`);
  return Math.trunc(bytes);
}

/** Formats in SI form without a space, as the reference's query printer does: `9B`, `1.5GB`, `12MB`. */
export function formatByteSize(bytes: number): string {
  if (bytes < 10) return `${bytes}B`;
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3 + 1e-12), units.length - 1);
  const value = Math.floor((bytes / 1000 ** power) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)}${units[power]}`;
}

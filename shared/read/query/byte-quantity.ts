/** Formats byte quantities in error messages, with binary units as in the configuration: `512B`, `1.5GB`. */
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

export function formatByteQuantity(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(1))}${UNITS[unit]}`;
}

/** Bars of a sparkline as an SVG path. */
export const SPARKLINE_HEIGHT = 24;
/** Minimum height, so that one line is visible next to a thousand. */
const LEAST = 1.5;

/** Path with a bar of width 0.8 for each nonzero value, with the baseline at SPARKLINE_HEIGHT. */
export function barsPath(values: readonly number[]): string {
  const greatest = values.reduce((a, b) => Math.max(a, b), 0);
  return values
    .map((value, i) => {
      if (value <= 0) return '';
      const height = Math.max(LEAST, (value / greatest) * SPARKLINE_HEIGHT);
      return `M${i + 0.1} ${SPARKLINE_HEIGHT}v${-Math.round(height * 100) / 100}h.8V${SPARKLINE_HEIGHT}z`;
    })
    .join('');
}

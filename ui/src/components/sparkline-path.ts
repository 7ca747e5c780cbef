/** The bars of a sparkline as the path of an SVG. */
export const SPARKLINE_HEIGHT = 24;
/** So that one line is seen beside a thousand. */
const LEAST = 1.5;

/** A bar of width 0.8 for each value that is not 0, on a ground at SPARKLINE_HEIGHT. */
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

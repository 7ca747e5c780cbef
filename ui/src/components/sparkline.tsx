/** How something was over time, as small bars without an axis. What it says in words is its name. */
export interface SparklineProps {
  readonly values: readonly number[];
  /** A token: `--info`. */
  readonly colour: string;
  readonly name: string;
}

const HEIGHT = 24;
/** So that one line is seen beside a thousand. */
const LEAST = 1.5;

export function Sparkline({ values, colour, name }: SparklineProps) {
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={name}
      viewBox={`0 0 ${values.length} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <path d={barsPath(values)} style={{ fill: `var(${colour})` }} />
    </svg>
  );
}

/** A bar of width 0.8 for each value that is not 0, on a ground at HEIGHT. */
export function barsPath(values: readonly number[]): string {
  const greatest = values.reduce((a, b) => Math.max(a, b), 0);
  return values
    .map((value, i) => {
      if (value <= 0) return '';
      const height = Math.max(LEAST, (value / greatest) * HEIGHT);
      return `M${i + 0.1} ${HEIGHT}v${-Math.round(height * 100) / 100}h.8V${HEIGHT}z`;
    })
    .join('');
}

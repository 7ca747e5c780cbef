/** Sparkline: small bars over time without an axis. Its accessible name describes it. */
import { barsPath, SPARKLINE_HEIGHT } from './sparkline-path.ts';

interface SparklineProps {
  readonly values: readonly number[];
  /** Color token: `--info`. */
  readonly color: string;
  readonly name: string;
}

export function Sparkline({ values, color, name }: SparklineProps) {
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={name}
      viewBox={`0 0 ${values.length} ${SPARKLINE_HEIGHT}`}
      preserveAspectRatio="none"
    >
      <path d={barsPath(values)} style={{ fill: `var(${color})` }} />
    </svg>
  );
}

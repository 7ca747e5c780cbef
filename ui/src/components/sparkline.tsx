/** How something was over time, as small bars without an axis. What it says in words is its name. */
import { barsPath, SPARKLINE_HEIGHT } from './sparkline-path.ts';

export interface SparklineProps {
  readonly values: readonly number[];
  /** A token: `--info`. */
  readonly colour: string;
  readonly name: string;
}

export function Sparkline({ values, colour, name }: SparklineProps) {
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={name}
      viewBox={`0 0 ${values.length} ${SPARKLINE_HEIGHT}`}
      preserveAspectRatio="none"
    >
      <path d={barsPath(values)} style={{ fill: `var(${colour})` }} />
    </svg>
  );
}

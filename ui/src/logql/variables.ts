/** Replaces the dashboard variables for step and range, which the store does not know. */
import { stepText } from '../time/steps.ts';

interface VariableValues {
  readonly rangeMs: number;
  readonly stepMs: number;
}

const VARIABLE =
  /\$(?:__(auto|interval_ms|interval|rate_interval|range_ms|range_s|range)\b|\{__(auto|interval_ms|interval|rate_interval|range_ms|range_s|range)\})/g;

export function fillVariables(query: string, { rangeMs, stepMs }: VariableValues): string {
  const range = Math.max(1, Math.round(rangeMs / 1000));
  const values: Readonly<Record<string, string>> = {
    auto: stepText(stepMs),
    interval: stepText(stepMs),
    rate_interval: stepText(stepMs),
    interval_ms: String(stepMs),
    range: `${range}s`,
    range_s: String(range),
    range_ms: String(range * 1000),
  };
  return query.replace(VARIABLE, (_, plain: string | undefined, braced: string) => values[plain ?? braced]);
}

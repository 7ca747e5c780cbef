/**
 * Formats one line of CloudWatch's embedded metric format, for values that a function measures occasionally.
 * Counters per request are collected first (shared/server/admin/metrics/embedded-metrics.ts). The function's
 * name is the only dimension: CloudWatch charges per combination, and alarms know the name.
 */
export interface EmbeddedFigure {
  readonly name: string;
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds' | 'None';
  readonly value: number;
}

/** @param functionName value of AWS_LAMBDA_FUNCTION_NAME */
export function embeddedLine(
  functionName: string,
  nowMs: number,
  figures: readonly EmbeddedFigure[],
): string {
  const directive = {
    Namespace: 'Logboom',
    Dimensions: [['FunctionName']],
    Metrics: figures.map(({ name, unit }) => ({ Name: name, Unit: unit })),
  };
  return JSON.stringify({
    _aws: { Timestamp: Math.trunc(nowMs), CloudWatchMetrics: [directive] },
    FunctionName: functionName,
    ...Object.fromEntries(figures.map(({ name, value }) => [name, value])),
  });
}

/** Chart of a metric query in one of the chart kinds. The chart itself loads on demand. */

import type { ChartKind } from '../../../shared/base/model/board.ts';
import type { ResolvedRange } from '../time/time-range.ts';
import type { ChartSeries } from './chart-model.ts';
import { heatHeightPx } from './heat-map-size.ts';
import { lazyPart } from './lazy-part.tsx';
import { SingleValues, TopList } from './metric-values.tsx';
import { TimeChart } from './time-chart.tsx';

interface MetricChartProps {
  readonly timesMs: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Comparison series, for kinds that support one. */
  readonly data: { readonly timesMs: readonly number[]; readonly series: readonly ChartSeries[] };
  readonly kind: ChartKind;
  readonly range: ResolvedRange;
  readonly stepMs: number;
  readonly heightPx: number;
  readonly valueText: (value: number) => string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  /** Accessible name of the chart. */
  readonly name: string;
}

const HeatMap = lazyPart(async () => (await import('./heat-map.tsx')).HeatMap);

export function MetricChart(props: MetricChartProps) {
  const { timesMs, series, data, kind, range, stepMs, heightPx, valueText, onZoom, name } = props;
  switch (kind) {
    case 'table':
      return null;
    case 'top':
      return <TopList series={series} valueText={valueText} />;
    case 'value':
      return <SingleValues series={series} valueText={valueText} />;
    case 'heat':
      return (
        <div style={{ minHeight: `${heatHeightPx(series.length, heightPx)}px` }}>
          <HeatMap
            timesMs={timesMs}
            series={series}
            stepMs={stepMs}
            heightPx={heightPx}
            valueText={valueText}
            onZoom={onZoom}
            name={name}
          />
        </div>
      );
    default:
      return (
        <TimeChart
          data={data}
          kind={kind}
          fromMs={range.fromMs}
          toMs={range.toMs + (kind === 'bars' ? stepMs : 0)}
          stepMs={stepMs}
          heightPx={heightPx}
          valueText={valueText}
          onZoom={onZoom}
          name={name}
        />
      );
  }
}

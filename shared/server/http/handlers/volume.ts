/** index/volume and index/volume_range (docs/dev/wire-format.md#volumes). */

import { compareUtf8 } from '../../../base/model/bytes.ts';
import { BadRequestError, ClientError } from '../../../base/model/errors.ts';
import { NS_PER_MS } from '../../../base/model/time-units.ts';
import type { MetricResult } from '../../../execution/metrics/result.ts';
import type { Matcher } from '../../../language/logql/ast.ts';
import type { VolumeOfSeries, Volumes } from '../../../read/insight/volume.ts';
import type { VolumeGrouping } from '../../../read/insight/volume-day.ts';
import { newStatistics } from '../../../read/query/statistics.ts';
import type { HttpContext } from '../context.ts';
import { encodeAnswer } from '../encode-answer.ts';
import type { HttpResponse } from '../message.ts';
import { type Params, param, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { limitParam, rangeParams, stepParam } from '../query-params.ts';
import { jsonText } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { anySelector } from '../selector-params.ts';
import { requesterOf } from './query.ts';

export const showVolume: Handler<HttpContext> = (context, request) => answerVolume(context, request, false);

export const showVolumeRange: Handler<HttpContext> = (context, request) =>
  answerVolume(context, request, true);

async function answerVolume(
  context: HttpContext,
  request: RoutedRequest,
  inSteps: boolean,
): Promise<HttpResponse> {
  const requester = requesterOf(context, request);
  if (!requester.limits.volumeEnabled) throw new ClientError(404, 'not found');
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeParams(params, context.clock.nowNs());
  const limit = limitParam(params, 'limit', { zeroIsInitial: true });
  const stepNs = inSteps ? stepParam(params, range) : undefined;
  const asked = groupingParams(params);
  const query = { ...selectionOf(anySelector(param(params, 'query')), asked), range, stepNs };
  const started = process.hrtime.bigint();
  const volumes = await context.insight.volumes(query, requester);
  const execNs = Number(process.hrtime.bigint() - started);
  const series = firstOf(volumes.series, limit);
  const result = inSteps ? inMatrix(volumes, series) : inVector(series, Number(range.endNs / NS_PER_MS));
  return jsonText(
    encodeAnswer(
      { result, statistics: newStatistics(), execNs },
      { flags: [], warnings: requester.warnings },
    ),
  );
}

interface RequestedGrouping {
  readonly by: VolumeGrouping['by'];
  /** Empty if not given. */
  readonly targets: readonly string[];
}

function groupingParams(params: Params): RequestedGrouping {
  const by = param(params, 'aggregateBy') || 'series';
  if (by !== 'series' && by !== 'labels') throw new BadRequestError('invalid aggregation option');
  const targets = param(params, 'targetLabels').split(',');
  return { by, targets: targets.map(name => name.trim()).filter(name => name !== '') };
}

/** Omits streams that lack a target label, unless the selector contains it. */
function selectionOf(
  selector: readonly Matcher[],
  { by, targets }: RequestedGrouping,
): { readonly matchers: readonly Matcher[]; readonly grouping: VolumeGrouping } {
  const named = [...new Set(selector.map(({ name }) => name))];
  const others = targets.filter(target => !named.includes(target));
  const matchers = [...selector, ...others.map((name): Matcher => ({ name, op: '=~', value: '.+' }))];
  if (targets.length > 0) return { matchers, grouping: { by, names: targets } };
  const all = by === 'labels' || selector.length === 0;
  return { matchers, grouping: { by, names: all ? undefined : named } };
}

/** Largest series, ordered by their first samples and their names. */
function firstOf(series: readonly VolumeOfSeries[], limit: number): readonly VolumeOfSeries[] {
  const firstBytes = ({ bytes }: VolumeOfSeries) => bytes.find(value => value > 0)!;
  return [...series]
    .sort((a, b) => b.totalBytes - a.totalBytes || compareUtf8(a.text, b.text))
    .slice(0, limit)
    .sort((a, b) => firstBytes(b) - firstBytes(a) || compareUtf8(a.text, b.text));
}

function inVector(series: readonly VolumeOfSeries[], timeMs: number): MetricResult {
  const samples = series.map(({ labels, totalBytes }) => ({ labels, value: totalBytes }));
  return { kind: 'vector', timeMs, samples, warnings: [] };
}

/** An empty response is a vector, as in the reference. All others are matrices (difference D10). */
function inMatrix({ timesMs }: Volumes, series: readonly VolumeOfSeries[]): MetricResult {
  if (series.length === 0) return { kind: 'vector', timeMs: 0, samples: [], warnings: [] };
  const matrix = series.map(({ labels, bytes }) => ({
    labels,
    timesMs: timesMs.filter((_, i) => bytes[i] >= 0),
    values: bytes.filter(value => value >= 0),
  }));
  return { kind: 'matrix', series: matrix, warnings: [] };
}

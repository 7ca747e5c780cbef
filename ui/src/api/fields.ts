/**
 * Statistics of one field over a whole range from the store: its most frequent values, its number of lines,
 * its numbers.
 */
import {
  FIGURES,
  type FieldFigure,
  figureQuery,
  presenceQuery,
  type QueriedField,
  topValuesQuery,
} from '../logql/field-queries.ts';
import { stepText } from '../time/steps.ts';
import { fetchInstant, type MsRange } from './queries.ts';

interface FieldValues {
  /** Undefined if they were not counted. */
  readonly values: readonly { readonly value: string; readonly count: number }[] | undefined;
  /** Lines that have the field. */
  readonly lines: number;
}

interface FieldRequest extends MsRange {
  /** Log query. */
  readonly query: string;
  readonly field: QueriedField;
}

/** @param countsValues false for fields such as IDs, whose counts take the store long and are all 1 */
export async function fetchFieldValues(
  asked: FieldRequest,
  countsValues: boolean,
  signal?: AbortSignal,
): Promise<FieldValues> {
  const { query, field } = asked;
  const { window, atMs } = windowOf(asked);
  const [top, lines] = await Promise.all([
    countsValues ? fetchInstant(topValuesQuery(query, field, window), atMs, signal) : undefined,
    fetchInstant(presenceQuery(query, field, window), atMs, signal),
  ]);
  return {
    values: top
      ?.map(({ metric, value }) => ({ value: metric[field.name] ?? '', count: Number(value[1]) }))
      .sort((a, b) => b.count - a.count),
    lines: Number(lines[0]?.value[1] ?? 0),
  };
}

type FieldFigures = readonly { readonly figure: FieldFigure; readonly value: number }[];

export async function fetchFieldFigures(asked: FieldRequest, signal?: AbortSignal): Promise<FieldFigures> {
  const { query, field } = asked;
  const { window, atMs } = windowOf(asked);
  const answers = await Promise.all(
    FIGURES.map(figure => fetchInstant(figureQuery(query, field, figure, window), atMs, signal)),
  );
  return answers.flatMap(([sample], i) =>
    sample === undefined ? [] : [{ figure: FIGURES[i], value: Number(sample.value[1]) }],
  );
}

/**
 * LogQL window for a range of entries. A window excludes its start and includes its end; an entry range is
 * the reverse. Shifting by 1 ms makes them equal.
 */
function windowOf({ fromMs, toMs }: MsRange): { readonly window: string; readonly atMs: number } {
  return { window: stepText(toMs - fromMs), atMs: toMs - 1 };
}

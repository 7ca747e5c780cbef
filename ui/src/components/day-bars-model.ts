/** Bars of days: their heights, and the marks of the axis. */
export interface DaySeries {
  readonly name: string;
  /** A token: `--series-1`. */
  readonly colour: string;
  /** One for each day; none is negative. */
  readonly values: readonly number[];
}

export function daySums(series: readonly DaySeries[], dayCount: number): readonly number[] {
  return Array.from({ length: dayCount }, (_, day) =>
    series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0),
  );
}

/** A round number that is not less than `most`, at most twice as large, whose half is round too; 1 for nothing. */
export function topOf(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  // Sums of parts are off by their last digits.
  return [1, 2, 4, 6, 8, 10].map(factor => factor * power).find(top => top >= most * (1 - 1e-9))!;
}

/** Which days have their name below them: `most` at most, evenly spread, the last day first. */
export function namedDays(dayCount: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(dayCount / most));
  const named: number[] = [];
  for (let day = dayCount - 1; day >= 0; day -= every) named.push(day);
  return named;
}

/** Bars by day: their heights, and the marks of the axis. */
export interface DaySeries {
  readonly name: string;
  /** Color token: `--series-1`. */
  readonly color: string;
  /** One value per day, not negative. */
  readonly values: readonly number[];
}

export function daySums(series: readonly DaySeries[], dayCount: number): readonly number[] {
  return Array.from({ length: dayCount }, (_, day) =>
    series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0),
  );
}

/**
 * Top of the axis: a round number, at least `most` and at most twice as large, whose half is also round. 1 if
 * `most` is 0.
 */
export function topOf(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  // Sums of parts differ in their last digits.
  return [1, 2, 4, 6, 8, 10].map(factor => factor * power).find(top => top >= most * (1 - 1e-9))!;
}

/** Indexes of up to `most` evenly spread days whose names are shown, including the last day. */
export function namedDays(dayCount: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(dayCount / most));
  const named: number[] = [];
  for (let day = dayCount - 1; day >= 0; day -= every) named.push(day);
  return named;
}

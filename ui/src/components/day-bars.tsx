/**
 * Bar chart by UTC day, stacked if there are several series. Uses elements instead of a canvas: there are few
 * bars, they follow the page's colors, and UTC days are the same in every time zone.
 */
import { useState } from 'preact/hooks';
import { type DaySeries, daySums, namedDays, topOf } from './day-bars-model.ts';

interface DayBarsProps {
  readonly name: string;
  /** Days in order: `2026-11-21`. */
  readonly days: readonly string[];
  readonly series: readonly DaySeries[];
  readonly valueText: (value: number) => string;
}

const MAX_NAMED = 6;
const DAY_NAME = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const LONG_DAY_NAME = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

export function DayBars({ name, days, series, valueText }: DayBarsProps) {
  const [pointed, setPointed] = useState<number>();
  const sums = daySums(series, days.length);
  const total = sums.reduce((all, sum) => all + sum, 0);
  const top = topOf(Math.max(...sums));
  const named = namedDays(days.length, MAX_NAMED);
  const shownDay = pointed ?? days.length - 1;
  return (
    <figure class="day-bars" role="img" aria-label={`${name}: ${valueText(total)} in ${days.length} days`}>
      <div class="day-legend" aria-hidden="true">
        <span class="soft numeric">{days.length > 0 && LONG_DAY_NAME.format(new Date(days[shownDay]))}</span>
        {series.map(({ name: part, color, values }) => (
          <span key={part} class="day-part numeric">
            <i style={{ background: `var(${color})` }} />
            {part} <b>{valueText(values[shownDay] ?? 0)}</b>
          </span>
        ))}
      </div>
      <div class="day-plot" aria-hidden="true" onPointerLeave={() => setPointed(undefined)}>
        <div class="day-grid">
          {[1, 0.5, 0].map(part => (
            <span key={part} class="numeric">
              {/* Omit a half mark that rounds to the same text as the top. */}
              {part === 0.5 && valueText(top * part) === valueText(top) ? '' : valueText(top * part)}
            </span>
          ))}
        </div>
        <div class="day-columns">
          {days.map((day, i) => (
            <div
              key={day}
              class={`day-column ${pointed === i ? 'pointed' : ''}`}
              onPointerEnter={() => setPointed(i)}
            >
              <div class="day-stack">
                {series.map(({ name: part, color, values }) => (
                  <i
                    key={part}
                    style={{ background: `var(${color})`, height: `${((values[i] ?? 0) / top) * 100}%` }}
                  />
                ))}
              </div>
              {named.includes(i) && (
                <span class={`numeric ${named.indexOf(i) % 2 === 1 ? 'only-wide' : ''}`}>
                  {DAY_NAME.format(new Date(day))}
                </span>
              )}
            </div>
          ))}
        </div>
      </div>
    </figure>
  );
}

/** Sizes of a heat map, also for the place of one that still loads. */

/** Maximum rows, so that a row is not lower than a line of text. */
export const MAX_HEAT_ROWS = 40;
export const HEAT_AXIS_PX = 22;
const MIN_ROW_PX = 14;
/** Color scale below the rows. */
const SCALE_PX = 28;

/** Height of the rows without the axis. */
export function heatPlotPx(rows: number, heightPx: number): number {
  return Math.max(heightPx - HEAT_AXIS_PX, rows * MIN_ROW_PX);
}

/** Height with axis and scale. */
export function heatHeightPx(series: number, heightPx: number): number {
  return heatPlotPx(Math.min(series, MAX_HEAT_ROWS), heightPx) + HEAT_AXIS_PX + SCALE_PX;
}

/**
 * Character grid for drawing lines. In braille mode, a character has 2 by 4 dots and colors distinguish
 * lines. In letter mode, a character is one dot and each line has a letter, for output without colors.
 */

/** Bits of the dots of a braille character, by row and column. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];
const BRAILLE = 0x2800;

export interface Canvas {
  /** Width in dots. */
  readonly width: number;
  readonly height: number;
  /** Draws a line between two points, both included; y grows downwards. */
  line(from: Point, to: Point, pen: number): void;
  /** Each row as runs of one pen; -1 marks empty cells. */
  rows(): readonly (readonly PenRun[])[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface PenRun {
  readonly pen: number;
  readonly text: string;
}

interface CanvasSize {
  readonly columns: number;
  readonly rows: number;
}

export function brailleCanvas({ columns, rows }: CanvasSize): Canvas {
  const dots = new Uint8Array(columns * rows);
  const pens = new Int8Array(columns * rows).fill(-1);
  const dot = (x: number, y: number, pen: number): void => {
    const at = (y >> 2) * columns + (x >> 1);
    dots[at] |= DOTS[y & 3][x & 1];
    pens[at] = pen;
  };
  return {
    width: 2 * columns,
    height: 4 * rows,
    line: (from, to, pen) => draw(from, to, (x, y) => dot(x, y, pen)),
    rows: () =>
      runsOf({ columns, rows }, pens, at =>
        dots[at] === 0 ? ' ' : String.fromCodePoint(BRAILLE + dots[at]),
      ),
  };
}

/** Canvas in letter mode. `letters` has one character per pen. */
export function letterCanvas({ columns, rows }: CanvasSize, letters: string): Canvas {
  const pens = new Int8Array(columns * rows).fill(-1);
  return {
    width: columns,
    height: rows,
    line: (from, to, pen) =>
      draw(from, to, (x, y) => {
        pens[y * columns + x] = pen;
      }),
    rows: () => runsOf({ columns, rows }, pens, at => (pens[at] < 0 ? ' ' : letters[pens[at]])),
  };
}

/** Calls `point` for every point on the straight line (Bresenham). */
function draw(from: Point, to: Point, point: (x: number, y: number) => void): void {
  const across = Math.abs(to.x - from.x);
  const down = -Math.abs(to.y - from.y);
  const stepX = from.x < to.x ? 1 : -1;
  const stepY = from.y < to.y ? 1 : -1;
  let { x, y } = from;
  let error = across + down;
  for (;;) {
    point(x, y);
    if (x === to.x && y === to.y) return;
    const twice = 2 * error;
    if (twice >= down) {
      error += down;
      x += stepX;
    }
    if (twice <= across) {
      error += across;
      y += stepY;
    }
  }
}

function runsOf({ columns, rows }: CanvasSize, pens: Int8Array, textAt: (at: number) => string): PenRun[][] {
  return Array.from({ length: rows }, (_, row) => {
    const runs: PenRun[] = [];
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column;
      const last = runs.at(-1);
      if (last?.pen === pens[at]) runs[runs.length - 1] = { pen: last.pen, text: last.text + textAt(at) };
      else runs.push({ pen: pens[at], text: textAt(at) });
    }
    return runs;
  });
}

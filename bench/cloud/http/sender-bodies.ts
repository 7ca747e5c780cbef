/**
 * Bodies of pushes, with different lines like those of access logs. They are made in advance: a push only gets the
 * first digits of its timestamps, so that the agents take little of the CPU that they share with the store.
 */

const LINE_BYTES = 200;
const SENDERS = 16;
/** Different bodies. Their timestamps make each push unique. */
const BODIES = 32;
const DIGITS = 19;
/** Last digits of a timestamp: the number of the line, which the templates have. */
const LINE_DIGITS = 4;
const LINES = 10 ** LINE_DIGITS;

interface BodyTemplate {
  readonly bytes: Buffer;
  /** Offsets of the timestamps. */
  readonly times: Uint32Array;
}

export class SenderBodies {
  readonly #templates: readonly BodyTemplate[];
  #number = 0;

  /** @param bytes of the lines of a push */
  constructor(bytes: number) {
    this.#templates = Array.from({ length: BODIES }, (_, i) => templateOf(bytes, i));
  }

  /** Size of a buffer for any body. */
  get maxBytes(): number {
    return Math.max(...this.#templates.map(({ bytes }) => bytes.length));
  }

  /** Writes the next body to the start of a buffer, and returns that part of it. */
  next(into: Buffer): Buffer {
    const { bytes, times } = this.#templates[this.#number++ % BODIES];
    bytes.copy(into);
    // Two pushes of a millisecond differ in the last two of these digits.
    const start = Buffer.from(`${Date.now()}${String(this.#number % 100).padStart(2, '0')}`);
    for (const at of times) for (let i = 0; i < start.length; i++) into[at + i] = start[i];
    return into.subarray(0, bytes.length);
  }
}

function templateOf(bytes: number, number: number): BodyTemplate {
  const start = '0'.repeat(DIGITS - LINE_DIGITS);
  const values = Array.from({ length: Math.round(bytes / LINE_BYTES) }, (_, i) => {
    const id = ((number * 7919 + i) * 2_654_435_761) >>> 0;
    const line = `10.${id & 255}.${(id >> 8) & 255}.7 - - "GET /api/v1/orders/${id} HTTP/1.1" ${id % 9 === 0 ? 500 : 200} ${id % 50_000}`;
    return [
      start + String(i % LINES).padStart(LINE_DIGITS, '0'),
      `${line} ${'"Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0" '.repeat(4)}`.slice(0, LINE_BYTES),
    ];
  });
  const text = JSON.stringify({ streams: [{ stream: { app: `sender-${number % SENDERS}` }, values }] });
  const times: number[] = [];
  for (let at = text.indexOf(`"${start}`); at >= 0; at = text.indexOf(`"${start}`, at + DIGITS))
    times.push(at + 1);
  return { bytes: Buffer.from(text), times: Uint32Array.from(times) };
}

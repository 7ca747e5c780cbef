/**
 * Bodies of pushes, with different lines like those of access logs. They are made in advance: a push only gets
 * its timestamps, so that the agents take little of the CPU that they share with the store.
 */

const LINE_BYTES = 200;
const SENDERS = 16;
/** Different bodies. Their timestamps make each push unique. */
const BODIES = 32;
const DIGITS = 19;

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

  next(): Buffer {
    const template = this.#templates[this.#number++ % BODIES];
    const body = Buffer.from(template.bytes);
    const ms = String(Date.now());
    // Two pushes of a millisecond differ in the next digits.
    const start = `${ms}${String(this.#number % 100).padStart(2, '0')}`;
    template.times.forEach((offset, i) => {
      body.write(start + String(i % 10_000).padStart(4, '0'), offset, DIGITS, 'latin1');
    });
    return body;
  }
}

function templateOf(bytes: number, number: number): BodyTemplate {
  const time = '0'.repeat(DIGITS);
  const values = Array.from({ length: Math.round(bytes / LINE_BYTES) }, (_, i) => {
    const id = ((number * 7919 + i) * 2_654_435_761) >>> 0;
    const line = `10.${id & 255}.${(id >> 8) & 255}.7 - - "GET /api/v1/orders/${id} HTTP/1.1" ${id % 9 === 0 ? 500 : 200} ${id % 50_000}`;
    return [
      time,
      `${line} ${'"Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0" '.repeat(4)}`.slice(0, LINE_BYTES),
    ];
  });
  const text = JSON.stringify({ streams: [{ stream: { app: `sender-${number % SENDERS}` }, values }] });
  const times: number[] = [];
  for (let at = text.indexOf(`"${time}"`); at >= 0; at = text.indexOf(`"${time}"`, at + DIGITS))
    times.push(at + 1);
  return { bytes: Buffer.from(text), times: Uint32Array.from(times) };
}

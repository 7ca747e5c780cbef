/** Fields of one log record except its attributes, in an object that is reused for every record. */
import { AnyValue } from './any-value.ts';
import type { Instant } from './instant.ts';

export class LogRecord {
  readonly time: Instant = { seconds: 0, nanos: 0 };
  readonly observedTime: Instant = { seconds: 0, nanos: 0 };
  readonly body = new AnyValue();
  severityNumber = 0;
  droppedAttributes = 0;
  flags = 0;
  // Texts are ranges in the body or behind it. An empty range is not set.
  severityStart = 0;
  severityEnd = 0;
  eventStart = 0;
  eventEnd = 0;
  /** Lower-case hex. */
  traceStart = 0;
  traceEnd = 0;
  spanStart = 0;
  spanEnd = 0;

  clear(): void {
    this.time.seconds = 0;
    this.time.nanos = 0;
    this.observedTime.seconds = 0;
    this.observedTime.nanos = 0;
    this.body.kind = 0;
    this.body.tree = undefined;
    this.severityNumber = 0;
    this.droppedAttributes = 0;
    this.flags = 0;
    this.severityStart = 0;
    this.severityEnd = 0;
    this.eventStart = 0;
    this.eventEnd = 0;
    this.traceStart = 0;
    this.traceEnd = 0;
    this.spanStart = 0;
    this.spanEnd = 0;
  }
}

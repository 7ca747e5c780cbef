/**
 * Prints lines in CloudWatch's embedded metric format, from which CloudWatch creates metrics without API
 * calls. The namespace is `Logboom`, and the dimensions are function, route group and status class.
 *
 *     {"_aws":{"Timestamp":1763750000000,"CloudWatchMetrics":[...]},"function":"push","route_group":"distributor",
 *      "status_class":"2xx","requests":3,"duration":[4,6,12]}
 *
 * Pitfall: CloudWatch charges for each combination of the three, so none of them may come from a client.
 * Durations are collected for one minute, or until a line is full. One line per request would cost more in
 * CloudWatch Logs than the request itself.
 */
import { invariant } from '../../../base/model/errors.ts';

/** Values of one metric per line: the limit of CloudWatch. */
const MAX_VALUES = 100;
/** Combinations of one function: 8 components and 5 classes. More is a defect of the caller. */
const MAX_SERIES = 64;

interface EmbeddedMetricsParts {
  /** Function name of groups.ts. */
  readonly functionName: string;
  readonly nowMs: () => number;
  /** Prints a line, which has no line break. */
  readonly print: (line: string) => void;
}

interface CountedCall {
  /** Component of the route, or name of a job. */
  readonly group: string;
  /** `2xx` and so on; `ok` or `failed` for calls other than requests. */
  readonly statusClass: string;
  readonly ms: number;
}

interface CallSeries extends Pick<CountedCall, 'group' | 'statusClass'> {
  readonly values: number[];
}

export class EmbeddedMetrics {
  readonly #parts: EmbeddedMetricsParts;
  readonly #series = new Map<string, CallSeries>();

  constructor(parts: EmbeddedMetricsParts) {
    this.#parts = parts;
  }

  count({ group, statusClass, ms }: CountedCall): void {
    const key = `${group} ${statusClass}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      invariant(this.#series.size < MAX_SERIES, `series ${key} exceeds the limit of ${MAX_SERIES}`);
      this.#series.set(key, (series = { group, statusClass, values: [] }));
    }
    series.values.push(Math.round(ms * 10) / 10);
    if (series.values.length === MAX_VALUES) this.#printSeries(series);
  }

  /** Prints the collected values. */
  flush(): void {
    for (const series of this.#series.values()) this.#printSeries(series);
  }

  #printSeries({ group, statusClass, values }: CallSeries): void {
    if (values.length === 0) return;
    const { functionName, nowMs, print } = this.#parts;
    const directive = {
      Namespace: 'Logboom',
      Dimensions: [['function', 'route_group', 'status_class']],
      Metrics: [
        { Name: 'requests', Unit: 'Count' },
        { Name: 'duration', Unit: 'Milliseconds' },
      ],
    };
    print(
      JSON.stringify({
        _aws: { Timestamp: Math.trunc(nowMs()), CloudWatchMetrics: [directive] },
        function: functionName,
        route_group: group,
        status_class: statusClass,
        requests: values.length,
        duration: values,
      }),
    );
    values.length = 0;
  }
}

/** Returns the class of any status, including unusual ones such as 260 and 499. */
export function statusClassOf(status: number): string {
  return `${Math.trunc(status / 100)}xx`;
}

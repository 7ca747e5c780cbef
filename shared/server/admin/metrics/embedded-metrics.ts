/**
 * Lines in CloudWatch's embedded metric format, from which CloudWatch makes metrics without being called: namespace
 * `Logboom`, by function, group of routes and class of status.
 *
 *     {"_aws":{"Timestamp":1763750000000,"CloudWatchMetrics":[...]},"function":"push","route_group":"distributor",
 *      "status_class":"2xx","requests":3,"duration":[4,6,12]}
 *
 * What a reader would get wrong: each combination of the three is a metric that CloudWatch charges for, so none of them may
 * come from a client. Durations are gathered for a minute, or until a line is full: a line for each request would cost
 * more in CloudWatch Logs than the request itself.
 */
import { invariant } from '../../../base/model/errors.ts';

/** Values of one metric in a line; CloudWatch's limit. */
const MAX_VALUES = 100;
/** Combinations of one function: eight components and five classes. More is a defect of whoever counts. */
const MAX_SERIES = 64;

export interface EmbeddedMetricsParts {
  /** As in groups.ts. */
  readonly functionName: string;
  readonly nowMs: () => number;
  /** Takes a line without its line break. */
  readonly print: (line: string) => void;
}

export interface CountedCall {
  /** Component whose route it was, or name of a job. */
  readonly group: string;
  /** `2xx` and so on; `ok` or `failed` of what is no request. */
  readonly statusClass: string;
  readonly ms: number;
}

interface Series extends Pick<CountedCall, 'group' | 'statusClass'> {
  readonly values: number[];
}

export class EmbeddedMetrics {
  readonly #parts: EmbeddedMetricsParts;
  readonly #series = new Map<string, Series>();

  constructor(parts: EmbeddedMetricsParts) {
    this.#parts = parts;
  }

  count({ group, statusClass, ms }: CountedCall): void {
    const key = `${group} ${statusClass}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      invariant(this.#series.size < MAX_SERIES, `${key} is one series too many`);
      this.#series.set(key, (series = { group, statusClass, values: [] }));
    }
    series.values.push(Math.round(ms * 10) / 10);
    if (series.values.length === MAX_VALUES) this.#printSeries(series);
  }

  /** Prints what is gathered. */
  flush(): void {
    for (const series of this.#series.values()) this.#printSeries(series);
  }

  #printSeries({ group, statusClass, values }: Series): void {
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

/** 204 is of `2xx`; 260 and 499 have their hundred like all others. */
export function statusClassOf(status: number): string {
  return `${Math.trunc(status / 100)}xx`;
}

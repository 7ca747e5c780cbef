import { expect, test } from '@jest/globals';
import { unitOf } from '../../ui/src/logql/unit.ts';

test.each([
  ['sum(rate({a="b"}[5m]))', 'number'],
  ['bytes_rate({a="b"}[5m])', 'bytes'],
  ['topk(3, sum by (x) (bytes_over_time({a="b"}[5m])))', 'bytes'],
  ['bytes_rate({a="b"}[5m]) / 1024', 'number'],
  ['count(bytes_rate({a="b"}[5m]))', 'number'],
  ['quantile_over_time(0.9, {a="b"} | json | unwrap duration(took) [5m])', 'seconds'],
  ['max_over_time({a="b"} | unwrap duration_seconds(took) [5m])', 'seconds'],
  ['sum_over_time({a="b"} | unwrap bytes(size) [5m])', 'bytes'],
  ['sum_over_time({a="b"} | unwrap amount [5m])', 'number'],
  ['rate({a="/"} |= "bytes_rate(" [5m])', 'number'],
  ['rate({a="b"} | unwrap bytes(size) [5m])', 'bytes'],
])('%s has values of the unit %s', (query, unit) => expect(unitOf(query)).toBe(unit));

/** Dates, layouts and zones on the sample line in UTC, each one checked against Go. */
import { describe, expect, test } from '@jest/globals';
import { render } from './sample-data.ts';

const CASES: ReadonlyArray<readonly [string, string]> = [
  ['{{ eq __timestamp__ __timestamp__ }}', 'true'],
  ['{{ printf "%T %T %T" __timestamp__ (index .a 0) . }}', 'time.Time uint8 map[string]string'],
  [
    '{{ printf "%s" __timestamp__ }} {{ printf "%v" __timestamp__ }} {{ printf "%q" __timestamp__ }}',
    '2026-11-20 06:09:34.737580101 +0000 UTC 2026-11-20 06:09:34.737580101 +0000 UTC "2026-11-20 06:09:34.737580101 +0000 UTC"',
  ],
  [
    '{{ date "2006-01-02 15:04:05.000 MST -0700 Z07:00" __timestamp__ }} {{ date "Mon Jan _2 3:4:5 PM pm 06 1 2 002 __2 January Monday" __timestamp__ }} {{ date ".999 .99 ,000 .0000 05.000000000 15.999999999 _2006 Jane Month Mond Janx" __timestamp__ }}',
    '2026-11-20 06:09:34.737 UTC +0000 Z Fri Nov 20 6:9:34 AM am 26 11 20 324 324 November Friday .737 .73 ,737 .7375 34.737580101 06.737580101 _2026 Jane Month Mond Janx',
  ],
  [
    '{{ date "2006" 0 }} {{ date "2006-01-02" 1700000000 }} {{ date "-07 -07:00 -070000 -07:00:00 Z07 Z0700 Z070000 Z07:00:00 03 04 4 5" 0 }} {{ date "2006" (add 0 1700000000) }} {{ date "15h04m" 1700000000 }}',
    '1970 2023-11-14 +00 +00:00 +000000 +00:00:00 Z Z Z Z 12 00 0 0 2023 22h13m',
  ],
  [
    '{{ toDate "2006-01-02" "2021-11-02" }} {{ toDate "2006-01-02" "bad" }} {{ toDate "2006-01-02 15:04:05" "2021-11-02 10:11:12.345" }} {{ toDate "2006-01-02T15:04:05Z07:00" "2021-11-02T10:11:12+05:30" }} {{ toDate "2006-01-02T15:04:05Z07:00" "2021-11-02T10:11:12Z" }} {{ toDate "Jan 2 2006" "feb 3 2020" }} {{ toDate "Monday, January _2, 06 3:04PM" "Tuesday, March  5, 71 12:01AM" }} {{ toDate "2006 002" "2020 060" }} {{ toDate "02/01/2006" "30/02/2020" }} {{ toDate "15:04" "23:59" }} {{ toDate "2006-01-02 MST" "2021-01-01 EST" }} {{ toDate "2006-01-02 MST" "2021-01-01 UTC" }} {{ toDate "2006-01-02 -0700" "2021-01-01 -0500" }} {{ toDate "2006-01-02 -0700" "2021-01-01 +0000" }} {{ toDate "2006-01-02 MST" "2021-01-01 GMT+3" }}',
    '2021-11-02 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 2021-11-02 10:11:12.345 +0000 UTC 2021-11-02 10:11:12 +0530 +0530 2021-11-02 10:11:12 +0000 UTC 2020-02-03 00:00:00 +0000 UTC 1971-03-05 00:01:00 +0000 UTC 2020-02-29 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 0000-01-01 23:59:00 +0000 UTC 2021-01-01 00:00:00 +0000 EST 2021-01-01 00:00:00 +0000 UTC 2021-01-01 00:00:00 -0500 -0500 2021-01-01 00:00:00 +0000 UTC 2021-01-01 03:00:00 +0300 GMT+3',
  ],
  [
    '{{ toDate "2006-01-02 15:04:05.000" "2021-01-01 00:00:00.12" }} {{ toDate "2006-01-02 15:04:05.999" "2021-01-01 00:00:00.123456789123" }} {{ toDate "2006-01-02" "2021-1-1" }} {{ toDate "2006-1-2" "2021-1-1" }} {{ toDate "2006-1-2" "2021-13-1" }} {{ toDate "2006-01-02  x" "2021-01-01 x" }} {{ toDate "2006-01-02" "2021-01-01x" }} {{ toDate "3PM" "13PM" }} {{ toDate "" "" }} {{ toDate "x" "" }} {{ toDate "2006-01-02T15:04:05.000-07:00 MST" "2021-01-01T01:02:03.004+02:00 EET" }}',
    '0001-01-01 00:00:00 +0000 UTC 2021-01-01 00:00:00.123456789 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 2021-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 2021-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 0000-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC 2021-01-01 01:02:03.004 +0200 EET',
  ],
  [
    '{{ toDateInZone "2006-01-02 15:04" "America/New_York" "2021-07-01 12:00" }} {{ toDateInZone "2006-01-02 15:04" "America/New_York" "2021-01-01 12:00" }} {{ toDateInZone "2006-01-02" "Nope/Zone" "2021-07-01" }} {{ toDateInZone "2006-01-02" "" "2021-07-01" }} {{ toDateInZone "2006-01-02" "Europe/Paris" "2021-07-01" }} {{ toDateInZone "2006-01-02" "Europe/Paris" "2021-01-01" }} {{ toDateInZone "2006-01-02" "Asia/Kolkata" "2021-01-01" }} {{ toDateInZone "2006-01-02" "Asia/Tokyo" "2021-01-01" }} {{ toDateInZone "2006-01-02" "Australia/Sydney" "2021-01-01" }} {{ toDateInZone "2006-01-02" "America/Sao_Paulo" "2021-01-01" }} {{ toDateInZone "2006-01-02" "Europe/London" "2021-07-01" }} {{ toDateInZone "2006-01-02 15:04" "Europe/Paris" "2021-03-28 02:30" }} {{ toDateInZone "2006-01-02 15:04" "Europe/Paris" "2021-10-31 02:30" }} {{ toDateInZone "2006-01-02 15:04" "America/New_York" "2021-11-07 01:30" }} {{ toDateInZone "2006-01-02 15:04" "America/New_York" "2021-03-14 02:30" }} {{ toDateInZone "2006-01-02" "Local" "2021-07-01" }} {{ toDateInZone "2006-01-02 MST" "America/New_York" "2021-07-01 EDT" }}',
    '2021-07-01 12:00:00 -0400 EDT 2021-01-01 12:00:00 -0500 EST 2021-07-01 00:00:00 +0000 UTC 2021-07-01 00:00:00 +0000 UTC 2021-07-01 00:00:00 +0200 CEST 2021-01-01 00:00:00 +0100 CET 2021-01-01 00:00:00 +0530 IST 2021-01-01 00:00:00 +0900 JST 2021-01-01 00:00:00 +1100 AEDT 2021-01-01 00:00:00 -0300 -03 2021-07-01 00:00:00 +0100 BST 2021-03-28 03:30:00 +0200 CEST 2021-10-31 02:30:00 +0100 CET 2021-11-07 01:30:00 -0400 EDT 2021-03-14 01:30:00 -0500 EST 2021-07-01 00:00:00 +0000 UTC 2021-07-01 00:00:00 -0400 EDT',
  ],
  [
    '{{ unixEpoch __timestamp__ }} {{ unixEpochMillis __timestamp__ }} {{ unixEpochNanos __timestamp__ }} {{ __timestamp__ }}',
    '1795154974 1795154974737 1795154974737580101 2026-11-20 06:09:34.737580101 +0000 UTC',
  ],
  ['{{ __timestamp__.Year }}', '2026'],
  [
    '{{ (__timestamp__).Year }} {{ (__timestamp__).Month }} {{ (__timestamp__).Weekday }} {{ (__timestamp__).Unix }} {{ (__timestamp__).Format "2006" }} {{ ((__timestamp__).AddDate 0 1 0).Format "2006-01-02" }} {{ (__timestamp__).YearDay }} {{ printf "%d" (__timestamp__).Month }} {{ (__timestamp__).UnixNano }} {{ (__timestamp__).UTC.Hour }} {{ ((__timestamp__).Sub __timestamp__) }} {{ (__timestamp__).Add 1000000000 }}',
    '2026 November Friday 1795154974 2026 2026-12-20 324 11 1795154974737580101 6 0s 2026-11-20 06:09:35.737580101 +0000 UTC',
  ],
  ['{{ $t := __timestamp__ }}{{ $t.Unix }} {{ "2006" | $t.Format }}', '1795154974 2026'],
  ['{{ if __timestamp__ }}t{{ end }}', 't'],
];

process.env.TZ = 'UTC';

describe('dates', () => {
  for (const [text, want] of CASES) {
    test(JSON.stringify(text), () => {
      expect(render(text)).toBe(want);
    });
  }
});

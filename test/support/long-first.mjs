/**
 * Order of the test files: the longest first, so that no process is left alone with one of them at the end. Jest knows how long a file
 * took before; on a new machine it would start with the largest files, and these are small ones.
 */
import TestSequencer from '@jest/test-sequencer';

const LONG =
  /\/(?:adversarial\/(?:compressed-bodies|exhaustion|event-functions|full-disk)|docs\/commands|simulation\/(?:crews|planted-bugs|simulation|fleet\/fleet)|lib\/stack|end-to-end\/(?:threads|crash|corruption|fan-out)|differential\/differential|conformance\/conformance)\.test\./;

export default class LongFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isLong = ({ path }) => LONG.test(path);
    return [...sorted.filter(isLong), ...sorted.filter(test => !isLong(test))];
  }
}

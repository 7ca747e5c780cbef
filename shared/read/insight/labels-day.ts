/**
 * Labels of one part of a day, for an interval that contains all of its chunks: every matching stream is
 * included.
 */

import { NO_INDEX } from './aggregate-day.ts';
import type { Collector, Question } from './day-cache.ts';
import { DetectedLabels } from './detected-labels.ts';

export const LABELS_QUESTION: Question<DetectedLabels> = {
  key: 'labels',
  collector: ({ matches }): Collector<DetectedLabels> => {
    const labels = new DetectedLabels();
    return {
      indexOf(stream) {
        if (matches(stream)) labels.add(stream);
        // Entries are not needed.
        return NO_INDEX;
      },
      wantsMinutes: () => false,
      add: () => undefined,
      addMinutes: () => undefined,
      addChunk: () => undefined,
      finish: () => labels,
    };
  },
};

/** Container logs of Kubernetes (containerd, CRI-O): `2026-01-05T10:00:00.123456789Z stdout F text`. */
import type { FormatOptions, LineFormat } from '../line-format.ts';

const CRI = /^(\S{20,40}) (stdout|stderr) ([FP](?::\S{0,100})?)(?: |$)/;

export function criFormat({ times }: FormatOptions): LineFormat {
  return {
    parse(line) {
      const match = CRI.exec(line);
      if (match === null) return undefined;
      const [head, time, stream, flags] = match;
      const timeNs = times.whole(time);
      if (timeNs === undefined) return undefined;
      return {
        fields: { stream, time },
        timeNs,
        line: line.slice(head.length),
        metadata: { stream },
        isPartial: flags.startsWith('P'),
        channel: stream,
      };
    },
  };
}

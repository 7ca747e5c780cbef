/**
 * Fails a metric query if a series that it evaluates has `__error__` (docs/dev/logql-semantics.md#errors-of-entries), unless the query
 * requests errors as a label. The extractor only marks such series, because a series outside every window
 * does no harm.
 */
import { formatLabels, type Labels, labelValue } from '../../base/model/labels.ts';
import { ERROR_LABEL, PRESERVE_ERROR_LABEL } from '../../base/text/names.ts';

/** Returns the error text of a series, or undefined if it has no error. The text ends in a newline. */
export function sampleFailure(labels: Labels): string | undefined {
  const kind = labelValue(labels, ERROR_LABEL);
  if (kind === undefined || kind === '' || labelValue(labels, PRESERVE_ERROR_LABEL) === 'true')
    return undefined;
  return (
    `pipeline error: '${kind}' for series: '${formatLabels(labels)}'.\n` +
    `Use a label filter to intentionally skip this error. (e.g | __error__!="${kind}").\n` +
    'To skip all potential errors you can match empty errors.(e.g __error__="")\n' +
    'The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n'
  );
}

/** Evaluates label_replace (docs/dev/logql-semantics.md#label_replace), once per series, because values do not matter. */

import { canonicalText } from '../../base/model/byte-text.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { type Labels, labelValue } from '../../base/model/labels.ts';
import type { LabelReplaceExpr } from '../../language/logql/ast.ts';
import { compileRegex } from '../../language/regex/regex.ts';
import { expandTemplate, parseReplacement } from '../../language/regex/template.ts';
import { withoutEmpty } from './grouping.ts';
import type { MatrixSeries, SeriesMatrix } from './matrix.ts';
import type { Steps } from './steps.ts';

/**
 * Replaces a label. Equal label sets in the result remain separate elements.
 *
 * Pitfall: labels with empty values are removed from a series if the regex matches, and remain if it does
 * not.
 */
export function* replaceLabel(matrix: SeriesMatrix, expr: LabelReplaceExpr): Steps<SeriesMatrix> {
  const regex = compileRegex(expr.regex, { anchored: true });
  const template = parseReplacement(expr.replacement);
  const series: MatrixSeries[] = [];
  for (const one of matrix.series) {
    yield;
    const groups = regex.exec(labelValue(one.labels, expr.source) ?? '');
    if (groups === undefined) {
      series.push(one);
      continue;
    }
    const expansion = canonicalText(expandTemplate(template, regex.groupNames, groups));
    series.push({ ...one, labels: withLabel(one.labels, expr.destination, expansion) });
  }
  return { timesMs: matrix.timesMs, series };
}

/** Sets one label to a value; labels with empty values are omitted. */
function withLabel(labels: Labels, name: string, value: string): Labels {
  const all = [...labels.filter(label => label.name !== name), { name, value }];
  return withoutEmpty(all.sort((a, b) => compareUtf8(a.name, b.name)));
}

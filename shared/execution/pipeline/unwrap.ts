/**
 * `| unwrap x`: the sample value of a row (docs/dev/logql-semantics.md#sample-values). A row without the label is skipped
 * silently. If its value does not convert, it counts as 0 with an error, which a filter after the unwrap may
 * still remove.
 */

import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import type { Unwrap } from '../../language/logql/ast.ts';
import { formatLabelFilter } from '../../language/logql/format-log.ts';
import { type Conversion, convertBytes, convertNumber, convertSeconds, newConverted } from './conversions.ts';
import { compileLabelFilter } from './label-filter.ts';
import { ABSENT, PARSED, type RowLabels } from './row-labels.ts';

const SAMPLE_ERROR = 'SampleExtractionErr';

/** Name for no conversion. */
export const PLAIN = 'number';

export interface Unwrapper {
  /** Number of the label. */
  readonly label: number;
  /** Name of the conversion: equal names convert equal texts to equal numbers. */
  readonly conversion: string;
  /** Whether filters after the unwrap read the row. */
  readonly hasFilters: boolean;
  /** Reads the row. Returns false if it yields no sample; otherwise sets `value`. */
  read(): boolean;
  value: number;
}

/** Throws BadRequestError if a filter after the unwrap is invalid. */
export function compileUnwrap(unwrap: Unwrap, labels: RowLabels): Unwrapper {
  const id = labels.intern(unwrap.label);
  const convert = conversionOf(unwrap);
  const filters = unwrap.filters.map(filter => {
    try {
      return compileLabelFilter(filter, labels);
    } catch (error) {
      const text = `parse error : stage '| ${formatLabelFilter(filter)}' : ${messageOf(error)}`;
      throw new BadRequestError(text, { cause: error });
    }
  });
  const converted = newConverted();

  function read(): boolean {
    if (isEmpty()) return false;
    convert(labels, id, converted);
    unwrapper.value = converted.value;
    if (converted.error !== undefined) {
      unwrapper.value = 0;
      labels.error = SAMPLE_ERROR;
      labels.errorDetails = converted.error;
    }
    for (let i = 0; i < filters.length; i++) if (!filters[i](labels)) return false;
    return true;
  }

  function isEmpty(): boolean {
    const kind = labels.lookup(id);
    if (kind === ABSENT) return true;
    if (kind !== PARSED) return labels.get(id) === '';
    return labels.isValueEmpty(labels.valueIndexOf(id));
  }

  const hasFilters = filters.length > 0;
  const unwrapper: Unwrapper = {
    label: id,
    conversion: unwrap.conversion ?? PLAIN,
    hasFilters,
    read,
    value: 0,
  };
  return unwrapper;
}

function conversionOf({ conversion }: Unwrap): Conversion {
  switch (conversion) {
    case 'bytes':
      return convertBytes;
    case 'duration':
    case 'duration_seconds':
      return convertSeconds;
    default:
      return convertNumber;
  }
}

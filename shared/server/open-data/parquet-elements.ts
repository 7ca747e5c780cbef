/**
 * Schema elements of Parquet files that more than one kind of file has. `converted_type` repeats the logical type
 * for readers from before 2018, and the writer recognizes maps and strings only by it.
 */
import type { SchemaElement } from 'hyparquet-writer';

/** UTF-8 text. */
export function textElement(name: string, repetition: 'REQUIRED' | 'OPTIONAL'): SchemaElement {
  return {
    name,
    type: 'BYTE_ARRAY',
    repetition_type: repetition,
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
  };
}

/** Map from text to text, which every row has. */
export function mapElements(name: string): SchemaElement[] {
  return [
    {
      name,
      repetition_type: 'REQUIRED',
      num_children: 1,
      converted_type: 'MAP',
      logical_type: { type: 'MAP' },
    },
    { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
    textElement('key', 'REQUIRED'),
    textElement('value', 'REQUIRED'),
  ];
}

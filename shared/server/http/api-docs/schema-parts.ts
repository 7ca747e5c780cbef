/** Short functions for JSON Schema (2020-12), the schema language of OpenAPI 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

export const STRING: Schema = { type: 'string' };
export const NUMBER: Schema = { type: 'number' };
export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const BOOLEAN: Schema = { type: 'boolean' };
export const NULL: Schema = { type: 'null' };
export const RFC3339: Schema = { type: 'string', format: 'date-time' };
export const NULLABLE_TIME: Schema = { type: ['string', 'null'], format: 'date-time' };
export const STRINGS: Schema = list(STRING);
/** Labels by name, or another map with string values. */
export const LABELS: Schema = map(STRING);
/** Unix seconds, and the value as a string. */
export const SAMPLE: Schema = {
  type: 'array',
  prefixItems: [NUMBER, STRING],
  items: false,
  minItems: 2,
};

export function list(items: Schema): Schema {
  return { type: 'array', items };
}

export function map(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

export function oneOfTexts(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

/** An object with required and optional members. */
export function object(
  members: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
) {
  return {
    type: 'object',
    properties: { ...members, ...optional },
    ...(Object.keys(members).length === 0 ? {} : { required: Object.keys(members) }),
  } satisfies Schema;
}

/** The usual envelope, with the warnings of a partial result. */
export function success(data: Schema): Schema {
  return object({ status: { const: 'success' }, data }, { warnings: STRINGS });
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Checks JSON responses against the schemas of the OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Json = Readonly<Record<string, unknown>>;
/** Description of the violation, or undefined. */
export type CheckResponse = (name: string, value: unknown) => string | undefined;

/**
 * Stricter than the document: a member that no schema names is a mistake here. The document itself stays open, because
 * a later version may add members.
 */
export function responseChecks(document: Json): CheckResponse {
  const { schemas } = document.components as { readonly schemas: Json };
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
  });
  addFormats.default(ajv);
  ajv.addKeyword('components');
  ajv.addSchema({ $id: 'api', components: { schemas: closed(schemas) } });
  return (name, value) => {
    const isValid = ajv.validate({ $ref: `api#/components/schemas/${name}` }, value);
    return isValid ? undefined : ajv.errorsText(ajv.errors, { dataVar: name });
  };
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = members.type !== 'object' || 'additionalProperties' in members;
  return isOpen ? members : { ...members, additionalProperties: false };
}

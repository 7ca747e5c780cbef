/** Descriptions of saved queries and boards of the explorer. */
import { type EndpointDocs, JSON_BODY, type ParameterDoc } from './endpoint-doc.ts';

const ID = '4f1c0d2a9be7356a';
const VERSION: ParameterDoc = {
  name: 'version',
  about: 'version that you read; the request fails with 409 if the stored version differs',
  required: true,
  type: 'integer',
  example: '1',
};
const BODIES = {
  queries: JSON.stringify({
    name: 'Declined payments',
    queries: ['{service_name="checkout"} |= "declined"'],
    from: 'now-6h',
    to: 'now',
  }),
  boards: JSON.stringify({
    name: 'Shop',
    from: 'now-6h',
    to: 'now',
    refreshSeconds: 60,
    variables: [{ name: 'service', label: 'service_name', several: true }],
    panels: [
      {
        title: 'Lines per second',
        kind: 'lines',
        width: 12,
        rows: 4,
        queries: [{ query: 'sum(rate({service_name=~"$service"}[$__auto]))', legend: '' }],
      },
    ],
  }),
};
const TOO_LARGE = { queries: 'the body is larger than 64 KiB', boards: 'the body is larger than 256 KiB' };

function saved(kind: 'queries' | 'boards', one: string, all: string): EndpointDocs {
  const root = `/svc/api/v1/ui/${kind}`;
  const answer = { tag: 'saved', status: 200, type: JSON_BODY } as const;
  const body = { about: `the ${one}`, types: { [JSON_BODY]: BODIES[kind] } };
  const missing = { 404: `${one} not found` };
  const changed = { ...missing, 409: `the ${one} has changed since this version` };
  return {
    [`GET ${root}`]: {
      ...answer,
      schema: 'SavedList',
      summary: `List ${all} by name, without their content`,
    },
    [`POST ${root}`]: {
      ...answer,
      schema: 'SavedHead',
      summary: `Create a ${one}`,
      body,
      others: {
        400: `the ${one} is invalid, or the tenant has reached the limit`,
        413: TOO_LARGE[kind],
      },
    },
    [`GET ${root}/{id}`]: {
      ...answer,
      schema: 'SavedItem',
      summary: `Show a ${one}`,
      path: { id: ID },
      others: missing,
    },
    [`PUT ${root}/{id}`]: {
      ...answer,
      schema: 'SavedHead',
      summary: `Replace a ${one}`,
      path: { id: ID },
      parameters: [VERSION],
      body,
      others: { 400: `the ${one} or the version is invalid`, ...changed, 413: TOO_LARGE[kind] },
    },
    [`DELETE ${root}/{id}`]: {
      ...answer,
      schema: 'SavedDeletion',
      summary: `Delete a ${one}`,
      path: { id: ID },
      parameters: [VERSION],
      others: { 400: 'the parameter `version` is missing or invalid', ...changed },
    },
  };
}

export const SAVED_DOCS: EndpointDocs = {
  ...saved('queries', 'saved query', 'saved queries'),
  ...saved('boards', 'board', 'boards'),
};

/** The provisioning files of the documentation: YAML that Grafana's reader takes, and the same address as the manual's. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';

const dataSources = z
  .object({
    apiVersion: z.literal(1),
    datasources: z.tuple([
      z
        .object({
          name: z.string(),
          type: z.literal('loki'),
          uid: z.string().optional(),
          access: z.literal('proxy'),
          // The client adds /loki/api/v1 itself.
          url: z.string().regex(/^http:\/\/[^/]+$/),
          jsonData: z
            .object({
              maxLines: z.int(),
              timeout: z.int().optional(),
              httpHeaderName1: z.literal('X-Scope-OrgID'),
              derivedFields: z
                .array(
                  z
                    .object({
                      name: z.string(),
                      matcherType: z.enum(['label', 'regex']).optional(),
                      matcherRegex: z.string(),
                      datasourceUid: z.string(),
                      url: z.literal('$${__value.raw}'),
                      urlDisplayLabel: z.string().optional(),
                    })
                    .strict(),
                )
                .optional(),
            })
            .strict(),
          secureJsonData: z.object({ httpHeaderValue1: z.string() }).strict(),
        })
        .strict(),
    ]),
  })
  .strict();

test.each(['grafana.md'])('the data source of %s', page => {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const block = /```yaml .*\n(apiVersion: 1\ndatasources:[^`]*)```/.exec(text);
  const { datasources } = dataSources.parse(parse(block![1]));
  for (const { matcherRegex } of datasources[0].jsonData.derivedFields ?? []) {
    expect(() => new RegExp(matcherRegex)).not.toThrow();
  }
});

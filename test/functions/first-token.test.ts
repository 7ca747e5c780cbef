import { describe, expect, test } from '@jest/globals';
import { createFirstToken } from '../../functions/first-token-handler.ts';
import { SCOPES } from '../../shared/base/model/scopes.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { TokenService } from '../../shared/server/auth/token-service.ts';
import { assembleAccess } from '../../shared/server/http/assemble-access.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';

describe('the first token', () => {
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const parts = { clock: SYSTEM_CLOCK, ids: SYSTEM_IDS };
  const catalog = new Catalog({ table, ...parts });
  const service = () => new TokenService({ tokens: catalog.tokens, ...parts });

  test('is shown to one of many concurrent requests, and to none later', async () => {
    const firstToken = createFirstToken(service());
    const results = await Promise.all(Array.from({ length: 5 }, () => firstToken()));
    const shown = results.filter(result => 'token' in result);
    expect(shown).toHaveLength(1);
    const [{ token }] = shown;
    const error = expect.stringMatching(
      /^the first token was shown at 20\d\d-.* and cannot be shown again; run logboom token create/,
    );
    expect(await createFirstToken(service())()).toEqual({ error });
    expect(await catalog.tokens.list()).toHaveLength(1);
    const { verifier } = assembleAccess({ config: DEFAULT_CONFIG, catalog, ...parts });
    expect(await verifier.verify(token, '203.0.113.7')).toMatchObject({ scopes: SCOPES, tenants: ['*'] });
    expect(JSON.stringify(await catalog.tokens.list())).not.toContain(token);
  });

  test('a first token that was revoked does not come back', async () => {
    const [{ id }] = await catalog.tokens.list();
    await service().revoke(id);
    expect(await createFirstToken(service())()).toHaveProperty('error');
  });
});

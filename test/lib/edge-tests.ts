/** CloudFront: the target of each path, and that nothing of the APIs is cached or changed there. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PAGE_POLICY } from '../../shared/server/http/ui.ts';
import { type Built, idIn } from './build.ts';
import { VARIANTS } from './variants.ts';

/** Managed policies of CloudFront, by their public ids. */
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const CACHING_OPTIMIZED = '658327ea-f89d-4fab-a63d-7e88639e58f6';
const ALL_VIEWER_EXCEPT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

export function edgeTests(built: () => Built): void {
  describe('CloudFront', () => {
    const configOf = (name: 'iam' | 'full') => {
      const [[, { Properties }]] = built().assemblies[name].ofType('AWS::CloudFront::Distribution');
      return Properties.DistributionConfig;
    };

    test('sends each path to its origin', () => {
      const { Origins, DefaultCacheBehavior, CacheBehaviors } = configOf('iam');
      const { resources } = built().assemblies.iam;
      const originOf = (id: string): string => {
        const { DomainName } = Origins.find(({ Id }: { Id: string }) => Id === id);
        const { Type, Properties } = resources[idIn(DomainName)];
        return Type === 'AWS::S3::Bucket' ? 'page' : Properties.ProtocolType;
      };
      const places = CacheBehaviors.map(({ PathPattern, TargetOriginId }: Record<string, string>) => [
        PathPattern,
        originOf(TargetOriginId),
      ]);
      expect(originOf(DefaultCacheBehavior.TargetOriginId)).toBe('HTTP');
      expect(Object.fromEntries(places)).toEqual({
        '/loki/api/v1/tail': 'WEBSOCKET',
        '/svc/api/v1/tail': 'WEBSOCKET',
        '/api/prom/tail': 'WEBSOCKET',
        '/api/compat/tail': 'WEBSOCKET',
        '/ui': 'page',
        '/ui/*': 'page',
        '/': 'HTTP',
      });
    });

    test('keeps nothing of the APIs, and passes on methods, headers and bodies as they are', () => {
      const { DefaultCacheBehavior, CacheBehaviors, Origins } = configOf('iam');
      const apis = [DefaultCacheBehavior, ...CacheBehaviors].filter(
        ({ PathPattern = '' }) => !PathPattern.startsWith('/ui'),
      );
      expect(apis).toHaveLength(6);
      for (const behavior of apis) {
        expect(behavior).toMatchObject({
          CachePolicyId: CACHING_DISABLED,
          OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
          Compress: false,
        });
        expect(behavior.AllowedMethods).toEqual(
          expect.arrayContaining(['GET', 'POST', 'PUT', 'DELETE', 'HEAD']),
        );
        expect(behavior.ViewerProtocolPolicy).not.toBe('allow-all');
      }
      for (const { CustomOriginConfig } of Origins) {
        if (CustomOriginConfig === undefined) continue;
        expect(CustomOriginConfig).toMatchObject({
          OriginProtocolPolicy: 'https-only',
          OriginSSLProtocols: ['TLSv1.2'],
        });
        // Otherwise CloudFront would respond before the gateway does.
        expect(CustomOriginConfig.OriginReadTimeout).toBeGreaterThan(30);
      }
    });

    test('the page is in a bucket that only CloudFront may read, with the headers of the local gateway', () => {
      const { resources, ofType, folder } = built().assemblies.iam;
      const { CacheBehaviors, Origins } = configOf('iam');
      const page = CacheBehaviors.find(({ PathPattern }: { PathPattern: string }) => PathPattern === '/ui/*');
      expect(page.CachePolicyId).toBe(CACHING_OPTIMIZED);
      const headers = resources[page.ResponseHeadersPolicyId.Ref].Properties.ResponseHeadersPolicyConfig;
      expect(headers.SecurityHeadersConfig.ContentSecurityPolicy.ContentSecurityPolicy).toBe(PAGE_POLICY);
      const { OriginAccessControlId } = Origins.find(({ Id }: { Id: string }) => Id === page.TargetOriginId);
      expect(resources[idIn(OriginAccessControlId)].Type).toBe('AWS::CloudFront::OriginAccessControl');
      const [content] = ofType('Custom::LogboomBucketContent').map(([, { Properties }]) => Properties);
      expect(content).toMatchObject({
        KeyPrefix: 'ui/',
        ContentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      const { Code } = resources[idIn(content.ServiceToken)].Properties;
      const files = readdirSync(join(folder, `asset.${Code.S3Key.replace(/\.zip$/, '')}`, 'page'));
      expect(files).toContain('index.html');
      expect(files.length).toBeGreaterThan(2);
    });

    test('a domain has its certificate, TLS 1.2 and the web ACL, and an output names the DNS target', () => {
      const { domain, certificateArn, webAclArn } = VARIANTS.full;
      expect(configOf('full')).toMatchObject({
        Aliases: [domain],
        ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
        WebACLId: webAclArn,
      });
      const { outputs } = built().assemblies.full;
      expect(outputs.BaseUrl.Value).toBe(`https://${domain}`);
      expect(idIn(outputs.DomainTarget.Value)).toMatch(/^EdgeDistribution/);
    });

    test('can be omitted; then the address is that of the HTTP API', () => {
      const { token } = built().assemblies;
      expect(token.ofType('AWS::CloudFront::Distribution')).toEqual([]);
      expect(token.ofType('AWS::S3::Bucket')).toHaveLength(1);
      expect(JSON.stringify(token.outputs.BaseUrl.Value)).toMatch(/https:\/\/.*\.execute-api\./);
    });
  });
}

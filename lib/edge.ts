/**
 * CloudFront in front of everything, so that one host has the paths of the API, of live tails and of the
 * explorer page:
 *
 *     /loki/api/v1/tail, ...   WebSocket API; its stage has no paths, so a CloudFront function rewrites them
 *     /ui, /ui/...             bucket with the page
 *     /                        the page for browsers, else the HTTP API
 *     everything else          HTTP API
 *
 * CloudFront neither caches nor changes API requests: all methods, all headers except Host, no compression.
 *
 * Pitfalls: - The Host header is removed, because the gateway accepts only its own. A signature
 * (authorization=iam) covers the host, so it must be made for the gateway's host, wherever the request is
 * sent (functions/sign-request.ts, docs/reference/aws.md). - The APIs keep their own addresses, which no web
 * ACL protects. Authorization is checked there, not here.
 */
import { Aws, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { pathsOf } from '../shared/server/http/routes.ts';
import { LEGACY_TAIL_PATH, TAIL_PATH } from '../shared/server/http/tail-request.ts';
import { PAGE_PATH, PAGE_POLICY } from '../shared/server/http/ui.ts';
import { BucketContent } from './bucket-content.ts';
import { pageFunctionCode, rootFunctionCode, tailFunctionCode } from './edge-functions.ts';
import type { Settings } from './settings.ts';
import { privateBucket } from './storage.ts';

/** Built explorer page, and the function that copies it to the bucket. */
export interface PageAsset {
  readonly code: string;
  /** Hash of all files of the page. */
  readonly hash: string;
}

interface EdgeProps {
  readonly settings: Pick<Settings, 'domain' | 'certificateArn' | 'webAclArn'>;
  /** Regional host names. */
  readonly httpHost: string;
  readonly webSocketHost: string;
  readonly webSocketStage: string;
  /** Undefined if there is no page. */
  readonly page: PageAsset | undefined;
  readonly logRetention: RetentionDays;
}

/**
 * Longer than the gateway waits for a function, so that clients get its response instead of CloudFront's
 * error.
 */
const READ_TIMEOUT = Duration.seconds(35);
/** Longest time without a quota increase; dashboards refresh within it. */
const KEEP_ALIVE = Duration.seconds(60);

export class Edge extends Construct {
  /** Base URL `https://...` without a trailing slash. */
  readonly url: string;
  readonly distribution: Distribution;

  constructor(scope: Construct, id: string, props: EdgeProps) {
    super(scope, id);
    const { settings, page } = props;
    const api = this.#apiBehavior(props.httpHost);
    const tails = {
      ...this.#apiBehavior(props.webSocketHost),
      functionAssociations: [this.#onRequest('TailPath', tailFunctionCode(props.webSocketStage))],
    };
    this.distribution = new Distribution(this, 'Distribution', {
      comment: 'Logboom: one address for requests, live tails and the explorer',
      defaultBehavior: api,
      additionalBehaviors: {
        ...Object.fromEntries(tailPaths().map(path => [path, tails])),
        ...(page === undefined ? {} : this.#pageBehaviors(page, api, props.logRetention)),
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(settings.domain === '' ? {} : this.#ownDomain(settings)),
      ...(settings.webAclArn === '' ? {} : { webAclId: settings.webAclArn }),
    });
    this.#accept(settings);
    this.url = `https://${settings.domain || this.distribution.distributionDomainName}`;
  }

  #apiBehavior(host: string): BehaviorOptions {
    return {
      origin: new HttpOrigin(host, { readTimeout: READ_TIMEOUT, keepaliveTimeout: KEEP_ALIVE }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      compress: false,
    };
  }

  #pageBehaviors(
    { code, hash }: PageAsset,
    api: BehaviorOptions,
    logRetention: RetentionDays,
  ): Record<string, BehaviorOptions> {
    const bucket = new Bucket(this, 'Page', {
      ...privateBucket(),
      encryption: BucketEncryption.S3_MANAGED,
      // Every deployment creates its contents again from the sources.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'It holds the public files of the explorer.',
    });
    const files = { keyPrefix: PAGE_PATH.slice(1), hash };
    new BucketContent(this, 'PageContent', { bucket, code, logRetention, files });
    const page: BehaviorOptions = {
      origin: S3BucketOrigin.withOriginAccessControl(bucket),
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      // Files have their own cache headers.
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      responseHeadersPolicy: this.#pageHeaders(),
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      compress: true,
      functionAssociations: [this.#onRequest('PagePath', pageFunctionCode())],
    };
    return {
      [PAGE_PATH.slice(0, -1)]: page,
      [`${PAGE_PATH}*`]: page,
      '/': {
        ...api,
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        functionAssociations: [this.#onRequest('RootPath', rootFunctionCode())],
      },
    };
  }

  #onRequest(id: string, code: string) {
    const runtime = FunctionRuntime.JS_2_0;
    return {
      eventType: FunctionEventType.VIEWER_REQUEST,
      function: new EdgeFunction(this, id, { code: FunctionCode.fromInline(code), runtime }),
    };
  }

  /** Same headers as the local gateway sends with the page. */
  #pageHeaders(): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'PageHeaders', {
      comment: 'Logboom: the explorer page loads nothing from elsewhere',
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy: PAGE_POLICY, override: true },
        contentTypeOptions: { override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
      },
      customHeadersBehavior: {
        customHeaders: [{ header: 'referrer-policy', value: 'no-referrer', override: true }],
      },
    });
  }

  #ownDomain({ domain, certificateArn }: Pick<Settings, 'domain' | 'certificateArn'>) {
    return {
      domainNames: [domain],
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    };
  }

  #accept({ domain, webAclArn }: Pick<Settings, 'domain' | 'webAclArn'>): void {
    const reasons: Record<string, string> = {
      'AwsSolutions-CFR1':
        'Agents can be anywhere; the setting authorization decides which requests are allowed.',
      'AwsSolutions-CFR3':
        'Its log would contain query strings with searched texts; the APIs log each request without them.',
    };
    if (webAclArn === '')
      reasons['AwsSolutions-CFR2'] = 'A web ACL costs money by the hour; the setting webAclArn adds one.';
    if (domain === '')
      reasons['AwsSolutions-CFR4'] =
        'The certificate of CloudFront fixes it; with the setting domain, the minimum is TLS 1.2.';
    for (const [id, reason] of Object.entries(reasons)) {
      Validations.of(this.distribution).acknowledge({ id, reason });
    }
  }
}

/** All paths of live tails. */
function tailPaths(): readonly string[] {
  return [TAIL_PATH, LEGACY_TAIL_PATH].flatMap(path => pathsOf({ path }));
}

/** Host name of an API in the stack's region. */
export function hostOfApi(apiId: string): string {
  return `${apiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
}

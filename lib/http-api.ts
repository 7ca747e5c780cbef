/**
 * HTTP API, routed from the one route table: each path, with all its aliases, to the function that serves it.
 * Functions handle methods: they answer HEAD like GET, and a wrong method as clients expect. Unknown paths go
 * to a function that answers with the program's 404, or with a redirect to a clean path.
 */
import { Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  type HttpRouteIntegration,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type FunctionName, functionOf } from '../functions/groups.ts';
import { ROUTES } from '../shared/server/http/route-table.ts';
import { pathsOf } from '../shared/server/http/routes.ts';
import { hostOfApi } from './edge.ts';
import { accessLog } from './gateway-logs.ts';

interface LogboomApiProps {
  readonly functions: Readonly<Record<FunctionName, LambdaFunction>>;
  /** Target of pushes instead of the push function. */
  readonly writeService: HttpRouteIntegration | undefined;
  /** Undefined if every client may call. */
  readonly authorizer: IHttpRouteAuthorizer | undefined;
  /** Authorizers for paths whose clients send their token in a header other than Authorization. */
  readonly byKey: ReadonlyMap<string, IHttpRouteAuthorizer>;
  /** True if health checks need no token. With AWS signatures, all requests are signed. */
  readonly opensPaths: boolean;
  readonly logRetention: RetentionDays;
}

/** Access log fields, without addresses and query strings, because those contain search terms. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    time: '$context.requestTimeEpoch',
    requestId: '$context.requestId',
    route: '$context.routeKey',
    status: '$context.status',
    responseBytes: '$context.responseLength',
    ms: '$context.responseLatency',
    integrationMs: '$context.integrationLatency',
    error: '$context.error.message',
    integrationError: '$context.integrationErrorMessage',
  }),
);

const EVERYBODY =
  'Chosen with --context authorization=none and public=yes-really; a proxy in front authorizes requests.';

export class LogboomApi extends Construct {
  readonly url: string;
  /** Host name, for custom domains and for signing requests. */
  readonly host: string;
  readonly apiId: string;

  constructor(scope: Construct, id: string, props: LogboomApiProps) {
    super(scope, id);
    const { functions, writeService, authorizer, byKey, opensPaths, logRetention } = props;
    const api = new HttpApi(this, 'Api', {
      description: 'Logboom',
      createDefaultStage: false,
      ...(authorizer === undefined ? {} : { defaultAuthorizer: authorizer }),
    });
    const integrations: Record<string, HttpRouteIntegration> = Object.fromEntries(
      Object.entries(functions).map(([name, lambda]) => [
        name,
        new HttpLambdaIntegration(`${name}Integration`, lambda, {
          // One permission for the whole API: one per route would exceed the policy size of a function, 20
          // KB.
          scopePermissionToRoute: false,
        }),
      ]),
    );
    if (writeService !== undefined) integrations.push = writeService;
    const open = openPaths();
    for (const [path, name] of servedPaths()) {
      const integration = integrations[name];
      const isOpen = opensPaths && open.has(path);
      const own = isOpen ? new HttpNoneAuthorizer() : byKey.get(path);
      const asked = own === undefined ? {} : { authorizer: own };
      for (const route of api.addRoutes({ path, methods: [HttpMethod.ANY], integration, ...asked })) {
        if (isOpen) accept(route, 'It returns readiness and version, and no data of a tenant.');
        else if (authorizer === undefined) accept(route, EVERYBODY);
      }
    }
    const others = new HttpRoute(this, 'Others', {
      httpApi: api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: integrations.status,
    });
    if (authorizer === undefined) accept(others, EVERYBODY);
    const log = accessLog(this, 'http', logRetention);
    const stage = new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: ACCESS_LOG },
    });
    this.url = stage.url;
    this.apiId = api.apiId;
    this.host = hostOfApi(api.apiId);
  }
}

/** Function by route path of the gateway; it serves all methods. */
export function servedPaths(): ReadonlyMap<string, FunctionName> {
  const paths = new Map<string, FunctionName>();
  for (const route of ROUTES) {
    for (const path of pathsOf(route)) {
      // The gateway has no routes that end with a slash; the default function handles these paths.
      if (path.endsWith('/')) continue;
      const name = functionOf(route);
      const known = paths.get(path);
      if (known !== undefined && known !== name)
        throw new Error(
          `${path} is served by ${known} and ${name}: one function must serve all methods of a path`,
        );
      paths.set(path, name);
    }
  }
  return paths;
}

/** Paths that show no tenant data with any method. */
function openPaths(): ReadonlySet<string> {
  const isOpen = new Map<string, boolean>();
  for (const route of ROUTES) {
    for (const path of pathsOf(route))
      isOpen.set(path, route.access.kind === 'open' && isOpen.get(path) !== false);
  }
  return new Set([...isOpen].filter(([, open]) => open).map(([path]) => path));
}

function accept(route: Construct, reason: string): void {
  Validations.of(route).acknowledge({ id: 'AwsSolutions-APIG4', reason });
}

/**
 * Authorization of both APIs: AWS checks signatures (`iam`), our function checks tokens (`token`), or nothing
 * is checked (`none`).
 *
 * Pitfall: if the header by which an authorizer is cached is missing, the gateway itself answers 401. Its
 * response has no `WWW-Authenticate`, so browsers do not prompt for a password.
 */
import { Duration } from 'aws-cdk-lib';
import type { IHttpRouteAuthorizer, IWebSocketRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  HttpIamAuthorizer,
  HttpLambdaAuthorizer,
  HttpLambdaResponseType,
  WebSocketIamAuthorizer,
  WebSocketLambdaAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import type { Construct } from 'constructs';
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import { AUTHORIZER_RIGHTS, FIRST_TOKEN_RIGHTS } from './rights.ts';
import type { Authorization } from './settings.ts';

interface Authorizers {
  readonly http: IHttpRouteAuthorizer | undefined;
  readonly webSocket: IWebSocketRouteAuthorizer | undefined;
  /** Authorizers for paths whose clients send their token in a header other than Authorization. */
  readonly byKey: ReadonlyMap<string, IHttpRouteAuthorizer>;
  /** Authorizer function, if there is one. */
  readonly lambda: ApiFunction['lambda'] | undefined;
}

interface AuthorizersProps {
  readonly authorization: Authorization;
  /** Bundle folder of the authorizer; undefined if none is needed. */
  readonly code: string | undefined;
  readonly shared: SharedFunctionProps;
}

const AUTHORIZER_CLASS: FunctionClass = {
  description: 'Checks tokens',
  // A hash and one small read need little. More memory means more CPU, which shortens the start.
  memoryMb: 1024,
  timeout: Duration.seconds(10),
  rights: AUTHORIZER_RIGHTS,
};
const FIRST_TOKEN_CLASS: FunctionClass = {
  description: 'Creates the first token and shows it once',
  // The function runs only once, so its memory is what the start needs.
  memoryMb: 256,
  timeout: Duration.seconds(30),
  rights: FIRST_TOKEN_RIGHTS,
};
/** Firehose cannot send an Authorization header. */
const FIREHOSE_PATH = '/aws/firehose';
/** Cache time of authorizers: a revoked token works for up to this time. */
const CACHED = Duration.seconds(30);

export function createAuthorizers(
  scope: Construct,
  { authorization, code, shared }: AuthorizersProps,
): Authorizers {
  const byKey = new Map<string, IHttpRouteAuthorizer>();
  if (authorization === 'none') return { http: undefined, webSocket: undefined, byKey, lambda: undefined };
  if (authorization === 'iam') {
    return {
      http: new HttpIamAuthorizer(),
      webSocket: new WebSocketIamAuthorizer(),
      byKey,
      lambda: undefined,
    };
  }
  if (code === undefined) throw new Error('the bundle of the authorizer is missing');
  const functionClass = AUTHORIZER_CLASS;
  const { lambda } = new ApiFunction(scope, 'Authorizer', {
    name: 'authorizer',
    functionClass,
    code,
    shared,
  });
  const byHeader = (id: string, header: string) =>
    new HttpLambdaAuthorizer(id, lambda, {
      responseTypes: [HttpLambdaResponseType.SIMPLE],
      identitySource: [`$request.header.${header}`],
      resultsCacheTtl: CACHED,
    });
  // All identity sources of an authorizer must be present, so each header needs a separate authorizer.
  byKey.set(FIREHOSE_PATH, byHeader('FirehoseAuthorizer', 'X-Amz-Firehose-Access-Key'));
  return {
    http: byHeader('TokenAuthorizer', 'Authorization'),
    byKey,
    // Browsers cannot send headers with a WebSocket, but a ticket in the URL. So no header is required, and
    // every $connect is checked.
    webSocket: new WebSocketLambdaAuthorizer('TokenAuthorizer', lambda, { identitySource: [] }),
    lambda,
  };
}

/** Function that people call for the first token; no other part of the stack may call it. */
export function firstTokenFunction(
  scope: Construct,
  code: string,
  shared: SharedFunctionProps,
): ApiFunction['lambda'] {
  const functionClass = FIRST_TOKEN_CLASS;
  return new ApiFunction(scope, 'FirstToken', { name: 'first-token', functionClass, code, shared }).lambda;
}

/**
 * Who may call both APIs: AWS itself asks (`iam`), our function asks for a token (`token`), or nobody does (`none`).
 *
 * What a reader would get wrong: the gateway answers 401 by itself where the header is missing that an authorizer of its HTTP API
 * is cached by. Its answer has no `WWW-Authenticate`, so browsers do not ask for a password.
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
import { ApiFunction, type StorePlace } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import { AUTHORIZER_RIGHTS, FIRST_TOKEN_RIGHTS } from './rights.ts';
import type { Authorization } from './settings.ts';

export interface Authorizers {
  readonly http: IHttpRouteAuthorizer | undefined;
  readonly webSocket: IWebSocketRouteAuthorizer | undefined;
  /** For paths whose clients send their token in a header of its own. */
  readonly byKey: ReadonlyMap<string, IHttpRouteAuthorizer>;
  /** Where there is one. */
  readonly lambda: ApiFunction['lambda'] | undefined;
}

export interface AuthorizersProps {
  readonly authorization: Authorization;
  /** Folder of the bundle of the authorizer; undefined where none is asked for. */
  readonly code: string | undefined;
  readonly place: StorePlace;
}

const AUTHORIZER_CLASS: FunctionClass = {
  description: 'Checks tokens',
  // A hash and one small read; more memory is more processor, which is what its start takes.
  memoryMb: 1024,
  timeout: Duration.seconds(10),
  rights: AUTHORIZER_RIGHTS,
};
const FIRST_TOKEN_CLASS: FunctionClass = {
  description: 'Makes the first token and shows it once',
  // It is called once: the memory is what its start takes.
  memoryMb: 256,
  timeout: Duration.seconds(30),
  rights: FIRST_TOKEN_RIGHTS,
};
/** Firehose can send no Authorization. */
const FIREHOSE_PATH = '/aws/firehose';
/** A token that is revoked works on for so long. */
const CACHED = Duration.seconds(30);

export function createAuthorizers(
  scope: Construct,
  { authorization, code, place }: AuthorizersProps,
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
  if (code === undefined) throw new Error('there is no bundle of the authorizer');
  const functionClass = AUTHORIZER_CLASS;
  const { lambda } = new ApiFunction(scope, 'Authorizer', { name: 'authorizer', functionClass, code, place });
  const byHeader = (id: string, header: string) =>
    new HttpLambdaAuthorizer(id, lambda, {
      responseTypes: [HttpLambdaResponseType.SIMPLE],
      identitySource: [`$request.header.${header}`],
      resultsCacheTtl: CACHED,
    });
  // Every source that an authorizer names must be there, so who sends another header has another authorizer.
  byKey.set(FIREHOSE_PATH, byHeader('FirehoseAuthorizer', 'X-Amz-Firehose-Access-Key'));
  return {
    http: byHeader('TokenAuthorizer', 'Authorization'),
    byKey,
    // A browser can give a WebSocket no header, but a ticket in its address: no header is asked for, so each $connect is looked at.
    webSocket: new WebSocketLambdaAuthorizer('TokenAuthorizer', lambda, { identitySource: [] }),
    lambda,
  };
}

/** The function that people call for the first token; no other part of the stack may. */
export function createFirstToken(scope: Construct, code: string, place: StorePlace): ApiFunction['lambda'] {
  const functionClass = FIRST_TOKEN_CLASS;
  return new ApiFunction(scope, 'FirstToken', { name: 'first-token', functionClass, code, place }).lambda;
}

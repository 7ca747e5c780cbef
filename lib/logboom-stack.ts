/** Logboom stack: storage, functions, APIs, schedules, CloudFront, and monitoring. */
import { Aws, CfnParameter, DefaultStackSynthesizer, Stack, Tags } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  type AnyFunctionName,
  FUNCTION_NAMES,
  type FunctionName,
  type StackFunctionName,
} from '../functions/groups.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import { createAuthorizers, firstTokenFunction } from './authorization.ts';
import { BucketContent } from './bucket-content.ts';
import { reservationsOf } from './concurrency.ts';
import { DueWork } from './due-work.ts';
import { Edge, type PageAsset } from './edge.ts';
import { EventFunctions } from './event-functions.ts';
import type { EventSettings } from './event-settings.ts';
import { ExportDays } from './export-days.ts';
import { FUNCTION_CLASSES } from './function-classes.ts';
import { FunctionUrlEndpoint } from './function-url.ts';
import { GatewayLogRole } from './gateway-logs.ts';
import { LogboomApi, servedPaths } from './http-api.ts';
import { addOutputs } from './outputs.ts';
import { QueryWorkerFunctions } from './query-workers.ts';
import { FailedCalls } from './schedules.ts';
import { allowSelfCalls } from './self-calls.ts';
import type { ServiceCode } from './service-code.ts';
import { hasPublicBalancer, isWanted, listOf, type Settings } from './settings.ts';
import { createBucket, createTable } from './storage.ts';
import { STAGE, TailApi } from './tail-api.ts';
import { Watch } from './watch.ts';
import { WriteService, type WriteServiceProps } from './write-service.ts';

export interface LogboomStackProps {
  readonly settings: Settings;
  /** Bundle folder of each enabled function. */
  readonly code: Readonly<Partial<Record<AnyFunctionName | StackFunctionName, string>>>;
  readonly events: EventSettings;
  /** Configuration of the functions, YAML; empty selects the defaults. */
  readonly configYaml: string;
  /** Code of the write service; undefined if functions accept pushes. */
  readonly service: ServiceCode | undefined;
  readonly config: Config;
  /** Undefined if there is no explorer page. */
  readonly page: PageAsset | undefined;
  /**
   * Packages for `aws cloudformation deploy`: a parameter names the bucket with the code, and the account
   * needs no bootstrap.
   */
  readonly isPackaged?: boolean;
}

/** Parameter with the bucket of function code. */
const ASSETS_PARAMETER = 'AssetsBucket';
/** Key prefix in that bucket. */
const ASSETS_PREFIX = 'logboom/';

type CodeOf = (name: AnyFunctionName | StackFunctionName) => string;

/** Tag on all resources with the store's name, for bills. */
const STACK_TAG = 'logboom:stack';

export class LogboomStack extends Stack {
  constructor(scope: Construct, id: string, props: LogboomStackProps) {
    super(scope, id, {
      description: 'Logboom, a multi-tenant log store',
      ...(props.isPackaged ? { synthesizer: packagedSynthesizer() } : {}),
    });
    const { settings, code } = props;
    if (props.isPackaged)
      new CfnParameter(this, ASSETS_PARAMETER, {
        description: `Bucket in this region that holds the code of the functions below ${ASSETS_PREFIX}`,
      });
    this.#tag(settings);
    const codeOf: CodeOf = name => {
      const folder = code[name];
      if (folder === undefined) throw new Error(`the bundle of ${name} is missing`);
      return folder;
    };
    const shared = this.#sharedProps(props, codeOf);
    const firstToken =
      settings.authorization === 'token'
        ? firstTokenFunction(this, codeOf('first-token'), shared)
        : undefined;
    const failed = new FailedCalls(this, 'Failed');
    const served =
      settings.endpoint === 'function-url'
        ? this.#serveByUrl(settings, { codeOf, shared, failed })
        : this.#serveByApis(props, { codeOf, shared, failed });
    addOutputs(this, { settings, shared, firstToken, ...served });
    const { permissionsBoundaryArn: boundary } = settings;
    if (boundary !== '')
      PermissionsBoundary.of(this).apply(ManagedPolicy.fromManagedPolicyArn(this, 'Boundary', boundary));
  }

  #tag({ tags }: Settings): void {
    Tags.of(this).add(STACK_TAG, Aws.STACK_NAME);
    for (const tag of listOf(tags)) {
      const at = tag.indexOf('=');
      Tags.of(this).add(tag.slice(0, at), tag.slice(at + 1));
    }
  }

  /** Serves everything with one function. */
  #serveByUrl({ authorization, endpoint }: Settings, { codeOf, shared, failed }: FunctionInputs) {
    const code = codeOf('all-in-one');
    const { lambda, url } = new FunctionUrlEndpoint(this, 'Endpoint', { code, shared, authorization });
    failed.takeFrom(lambda);
    allowSelfCalls(this, 'SelfCalls', lambda);
    new DueWork(this, 'Due', {
      code: codeOf('timer'),
      shared,
      failed,
      maintenance: lambda,
      tailDispatch: undefined,
      endpoint,
    });
    const none = { tailUrl: undefined, domainTarget: undefined };
    return { baseUrl: url, pushUrl: url, ...none, maintenance: lambda };
  }

  #serveByApis(props: LogboomStackProps, { codeOf, shared, failed }: FunctionInputs) {
    const { settings, code } = props;
    const { logRetention } = shared;
    const reserved = reservationsOf(settings.concurrency, props.config.logboom.maxCompactionFunctions);
    const functions = Object.fromEntries(
      FUNCTION_NAMES.map(name => [
        name,
        new ApiFunction(this, titled(name), {
          name,
          functionClass: FUNCTION_CLASSES[name],
          code: codeOf(name),
          shared,
          reservedConcurrency: name === 'query' || name === 'maintenance' ? reserved?.[name] : undefined,
        }).lambda,
      ]),
    ) as Record<FunctionName, ApiFunction['lambda']>;
    const { authorization, endpoint } = settings;
    const authorizers = createAuthorizers(this, { authorization, code: code.authorizer, shared });
    const { service: serviceCode } = props;
    const createWrite = (forwardTo?: WriteServiceProps['forwardTo']) =>
      serviceCode &&
      new WriteService(this, 'Write', {
        settings,
        config: props.config,
        code: serviceCode,
        shared,
        pushPaths: [...servedPaths()].filter(([, name]) => name === 'push').map(([path]) => path),
        forwardTo,
      });
    // A public load balancer is in front of the APIs, any other one behind them.
    const isPublic = hasPublicBalancer(settings);
    const inner = isPublic ? undefined : createWrite();
    const http = new LogboomApi(this, 'Http', {
      functions,
      writeService: inner?.integration,
      authorizer: authorizers.http,
      byKey: authorizers.byKey,
      opensPaths: authorization === 'token',
      logRetention,
    });
    failed.takeFrom(functions.maintenance);
    allowSelfCalls(this, 'SelfCalls', functions.maintenance);
    const logRole =
      settings.gatewayLogRole === 'create' ? new GatewayLogRole(this, 'GatewayLogs') : undefined;
    const tail = new TailApi(this, 'Tail', {
      code: {
        'tail-connect': codeOf('tail-connect'),
        'tail-disconnect': codeOf('tail-disconnect'),
        'tail-default': codeOf('tail-default'),
        'tail-dispatch': codeOf('tail-dispatch'),
      },
      shared,
      authorizer: authorizers.webSocket,
      failed,
      logRole: logRole?.isSet,
    });
    tail.calledBy(functions.push);
    const apiUrl = `https://${http.host}`;
    const outer = isPublic
      ? createWrite({ requests: apiUrl, tails: `https://${tail.host}/${STAGE}` })
      : undefined;
    const write = inner ?? outer;
    const due = new DueWork(this, 'Due', {
      code: codeOf('timer'),
      shared,
      failed,
      maintenance: functions.maintenance,
      tailDispatch: tail.dispatch,
      endpoint,
    });
    const workers = new QueryWorkerFunctions(this, 'Workers', {
      code: codeOf('query-worker'),
      shared,
      reservedConcurrency: reserved?.worker,
      query: functions.query,
    });
    const queues = [failed.queue];
    const watched: Record<string, ApiFunction['lambda']> = {
      ...functions,
      ...tail.functions,
      timer: due.lambda,
      worker: workers.lambda,
    };
    if (settings.exportTo !== '') {
      const { exportTo, stackName } = settings;
      const code = codeOf('export-days');
      const exported = new ExportDays(this, 'Export', { exportTo, stackName, code, shared, failed });
      watched['export-days'] = exported.lambda;
    }
    if (authorizers.lambda !== undefined) watched.authorizer = authorizers.lambda;
    new EventFunctions(this, 'Events', {
      settings: props.events,
      code,
      shared,
      onFunction: (name, lambda, queue) => {
        tail.calledBy(lambda);
        watched[name] = lambda;
        queues.push(queue);
      },
    });
    const edge = settings.edge
      ? new Edge(this, 'Edge', {
          settings,
          httpHost: http.host,
          webSocketHost: tail.host,
          webSocketStage: STAGE,
          page: props.page,
          logRetention,
        })
      : undefined;
    const outerUrl = outer && `https://${settings.domain}`;
    const baseUrl = edge?.url ?? outerUrl ?? apiUrl;
    new Watch(this, 'Watch', {
      settings,
      code: code.canary,
      shared,
      http,
      baseUrl,
      functions: watched,
      write,
      queues,
      failed,
    });
    return {
      baseUrl,
      pushUrl: outerUrl ?? apiUrl,
      tailUrl: tail.url,
      domainTarget:
        settings.domain === ''
          ? undefined
          : (edge?.distribution.distributionDomainName ?? outer?.loadBalancer.loadBalancerDnsName),
      maintenance: functions.maintenance,
    };
  }

  /** Storage, and the settings of every function. */
  #sharedProps({ settings, configYaml, config }: LogboomStackProps, codeOf: CodeOf): SharedFunctionProps {
    const { kmsKeyArn, subnetIds, securityGroupIds } = settings;
    const key = kmsKeyArn === '' ? undefined : Key.fromKeyArn(this, 'Key', kmsKeyArn);
    const bucket = createBucket(this, { settings, key });
    const table = createTable(this, { settings, key });
    const logRetention: RetentionDays = settings.logRetentionDays;
    const emptied =
      settings.removal === 'destroy'
        ? new BucketContent(this, 'ChunksContent', { bucket, code: codeOf('bucket-content'), logRetention })
        : undefined;
    const environment = {
      LOGBOOM_AUTHORIZATION: settings.authorization,
      ...(isWanted(settings, 'metrics') ? {} : { LOGBOOM_EMBEDDED_METRICS: 'false' }),
      ...(configYaml === '' ? {} : { LOGBOOM_CONFIG_YAML: configYaml }),
    };
    const network =
      subnetIds === ''
        ? undefined
        : { subnetIds: listOf(subnetIds), securityGroupIds: listOf(securityGroupIds) };
    const overridesObject = config.runtime.object;
    return { bucket, table, key, overridesObject, environment, logRetention, network, outlivedBy: emptied };
  }
}

interface FunctionInputs {
  readonly codeOf: CodeOf;
  readonly shared: SharedFunctionProps;
  readonly failed: FailedCalls;
}

function packagedSynthesizer(): DefaultStackSynthesizer {
  return new DefaultStackSynthesizer({
    generateBootstrapVersionRule: false,
    fileAssetsBucketName: `\${${ASSETS_PARAMETER}}`,
    bucketPrefix: ASSETS_PREFIX,
  });
}

function titled(name: string): string {
  return name[0].toUpperCase() + name.slice(1);
}

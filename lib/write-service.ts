/**
 * Write service: containers on Fargate that run `logboom start --target write` and store the pushes of many
 * agents together (docs/operate/size.md#many-small-agents). It replaces the push function behind the API, or it is
 * the address of the whole store. There, agents pay for a load balancer and not for each request, and containers
 * forward everything but pushes to the APIs (docs/dev/operations.md#forwarding).
 *
 *     write=service                       client --> API Gateway --> VPC link --> internal load balancer --> tasks
 *     write=service, edge=no, domain=...  client --> public load balancer --> tasks -- all but pushes --> API Gateway
 *
 * A load balancer cannot forward to the APIs itself: it has targets in the VPC only, or functions, with bodies of up to
 * 1 MB and without WebSockets.
 *
 * The VPC is only for it: tasks reach S3 and DynamoDB by gateway endpoints, which cost nothing, and the image and
 * logs by a public address, which costs less than a NAT gateway. No rule lets anything but the load balancer in.
 */
import { Aws, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type HttpRouteIntegration, VpcLink } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpAlbIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { GatewayVpcEndpointAwsService, Port, SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import {
  AwsLogDriverMode,
  Cluster,
  ContainerImage,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import {
  ApplicationListener,
  ApplicationLoadBalancer,
  ApplicationProtocol,
  ApplicationTargetGroup,
  ListenerAction,
  ListenerCondition,
  SslPolicy,
  TargetType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { Construct } from 'constructs';
import { allocatorSettings, FIXED_FLAGS, poolFlag } from '../bin/tuning.mjs';
import { formatConfig } from '../shared/server/admin/config.ts';
import type { Config } from '../shared/server/admin/config-fields.ts';
import type { SharedFunctionProps } from './api-function.ts';
import { grant } from './grants.ts';
import { WRITE_SERVICE_RIGHTS, WRITE_SERVICE_TOKEN_RIGHTS } from './rights.ts';
import type { ServiceCode } from './service-code.ts';
import type { Settings } from './settings.ts';
import { TASK } from './write-task.ts';

/** Image with Node.js; the program comes from the bucket of the deployment. */
const IMAGE = 'public.ecr.aws/docker/library/node:24-slim';
/** User of the image without rights. */
const USER = 'node';
const PORT = 3100;
/** Containers with load, as a multiple of those without. */
const MOST_TIMES = 10;
/** The cores of a container, not those of the machine that deploys (TASK.cpu). */
const CORES = TASK.cpu / 1024;
const NODE_FLAGS = [...FIXED_FLAGS, poolFlag(CORES)];
/** Time for running pushes when a container stops, longer than any push takes. */
const STOP = Duration.seconds(60);
const DRAIN = Duration.seconds(30);
/** A rule of a load balancer has up to five paths. */
const PATHS_OF_RULE = 5;
/** As long as API Gateway keeps an idle live tail; a tail has a frame every 5 minutes. Agents pause less. */
const IDLE = Duration.minutes(10);
/** A container must not close an idle connection that the load balancer still uses. */
const IDLE_OF_CONTAINER = IDLE.plus(Duration.seconds(30));

export interface WriteServiceProps {
  readonly settings: Pick<Settings, 'authorization' | 'writeTasks' | 'domain' | 'certificateArn'>;
  readonly config: Config;
  readonly code: ServiceCode;
  readonly shared: SharedFunctionProps;
  /** Paths of pushes, as the API has them. */
  readonly pushPaths: readonly string[];
  /** Addresses of the APIs if this service is the address of the store; undefined behind the API. */
  readonly forwardTo: { readonly requests: string; readonly tails: string } | undefined;
}

export class WriteService extends Construct {
  /** Target of the push routes of the API; undefined if the service is the address of the store. */
  readonly integration: HttpRouteIntegration | undefined;
  readonly loadBalancer: ApplicationLoadBalancer;
  /** Containers as the target of pushes. */
  readonly targets: ApplicationTargetGroup;
  readonly service: FargateService;

  constructor(scope: Construct, id: string, props: WriteServiceProps) {
    super(scope, id);
    const { settings, shared } = props;
    const { writeTasks } = settings;
    const isPublic = props.forwardTo !== undefined;
    const vpc = this.#createVpc();
    this.service = this.#createService(vpc, props);
    this.targets = this.#createTargets('Targets', vpc);
    const front = new SecurityGroup(this, 'Front', {
      vpc,
      description: 'Load balancer of the Logboom write service',
      allowAllOutbound: false,
    });
    this.loadBalancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: isPublic,
      securityGroup: front,
      dropInvalidHeaderFields: true,
      idleTimeout: IDLE,
    });
    Validations.of(this.loadBalancer).acknowledge({
      id: 'AwsSolutions-ELB2',
      reason: 'A line for each push would cost more than the push; metrics count them.',
    });
    if (isPublic) {
      this.#listenPublicly(vpc, front, props);
    } else {
      this.integration = this.#listenForApi(vpc, front);
    }
    this.service
      .autoScaleTaskCount({ minCapacity: writeTasks, maxCapacity: MOST_TIMES * writeTasks })
      .scaleOnCpuUtilization('Cpu', { targetUtilizationPercent: TASK.cpuTargetPercent });
    if (shared.outlivedBy !== undefined) this.service.node.addDependency(shared.outlivedBy);
  }

  #createTargets(id: string, vpc: Vpc): ApplicationTargetGroup {
    return new ApplicationTargetGroup(this, id, {
      vpc,
      port: PORT,
      protocol: ApplicationProtocol.HTTP,
      targetType: TargetType.IP,
      targets: [this.service],
      deregistrationDelay: DRAIN,
      healthCheck: {
        path: '/ready',
        interval: Duration.seconds(10),
        timeout: Duration.seconds(5),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 3,
      },
    });
  }

  #createVpc(): Vpc {
    const vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [{ name: 'tasks', subnetType: SubnetType.PUBLIC, cidrMask: 24 }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
      // It would take a function of the CDK; nothing uses the default group.
      restrictDefaultSecurityGroup: false,
    });
    Validations.of(vpc).acknowledge({
      id: 'AwsSolutions-VPC7',
      reason: 'Only the load balancer and its tasks are in it, and each push would be a line.',
    });
    return vpc;
  }

  #createService(vpc: Vpc, props: WriteServiceProps): FargateService {
    const { settings } = props;
    const cluster = new Cluster(this, 'Cluster', { vpc });
    Validations.of(cluster).acknowledge({
      id: 'AwsSolutions-ECS4',
      reason: 'Its metrics cost by container; those of the service and the load balancer have alarms.',
    });
    const group = new SecurityGroup(this, 'Tasks', {
      vpc,
      description: 'Tasks of the Logboom write service',
    });
    return new FargateService(this, 'Service', {
      cluster,
      taskDefinition: this.#defineTask(props),
      desiredCount: settings.writeTasks,
      assignPublicIp: true,
      securityGroups: [group],
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      healthCheckGracePeriod: Duration.seconds(60),
    });
  }

  #defineTask({ settings, config, code, shared, forwardTo }: WriteServiceProps): FargateTaskDefinition {
    const logGroup = new LogGroup(this, 'Log', {
      retention: shared.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const assumedBy = new ServicePrincipal('ecs-tasks.amazonaws.com');
    const taskRole = new Role(this, 'Role', { assumedBy });
    // The managed policy would allow every log group and image of the account.
    const executionRole = new Role(this, 'StartRole', { assumedBy });
    logGroup.grantWrite(executionRole);
    const checksTokens = settings.authorization === 'token';
    grant(taskRole, checksTokens ? WRITE_SERVICE_TOKEN_RIGHTS : WRITE_SERVICE_RIGHTS, shared);
    const program = new Asset(this, 'Program', { path: code.folder });
    taskRole.addToPolicy(
      new PolicyStatement({
        actions: ['s3:GetObject'],
        resources: [`arn:${Aws.PARTITION}:s3:::${program.s3BucketName}/${program.s3ObjectKey}`],
      }),
    );
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: TASK.cpu,
      memoryLimitMiB: TASK.memoryMb,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
      taskRole,
      executionRole,
    });
    task.addContainer('Logboom', {
      image: ContainerImage.fromRegistry(IMAGE),
      user: USER,
      command: ['node', '--input-type=module', '--eval', code.start, '--', ...NODE_FLAGS],
      environment: {
        ...allocatorSettings(CORES),
        AWS_REGION: Aws.REGION,
        LOGBOOM_PROGRAM_URL: program.httpUrl,
        LOGBOOM_TARGET: 'write',
        LOGBOOM_STORAGE: 's3',
        LOGBOOM_BUCKET: shared.bucket.bucketName,
        LOGBOOM_TABLE: shared.table.tableName,
        LOGBOOM_REGION: Aws.REGION,
        LOGBOOM_HOST: '0.0.0.0',
        LOGBOOM_PORT: `${PORT}`,
        LOGBOOM_CONFIG_YAML: configOfService(config, checksTokens),
        ...(forwardTo && {
          LOGBOOM_FORWARD_TO: forwardTo.requests,
          LOGBOOM_FORWARD_TAILS_TO: forwardTo.tails,
        }),
      },
      portMappings: [{ containerPort: PORT }],
      stopTimeout: STOP,
      logging: LogDrivers.awsLogs({
        logGroup,
        streamPrefix: 'write',
        // A slow log must not delay pushes.
        mode: AwsLogDriverMode.NON_BLOCKING,
      }),
    });
    Validations.of(task).acknowledge({
      id: 'AwsSolutions-ECS2',
      reason: 'Names and the configuration are not secret; functions have them in their environment, too.',
    });
    return task;
  }

  /** A listener that only the VPC link of the API reaches. */
  #listenForApi(vpc: Vpc, front: SecurityGroup): HttpRouteIntegration {
    const link = new SecurityGroup(this, 'LinkGroup', {
      vpc,
      description: 'API of Logboom to its write service',
      allowAllOutbound: false,
    });
    front.connections.allowFrom(link, Port.tcp(80));
    const listener = this.#createListener({
      port: 80,
      protocol: ApplicationProtocol.HTTP,
      defaultAction: ListenerAction.forward([this.targets]),
    });
    const vpcLink = new VpcLink(this, 'Link', {
      vpc,
      subnets: { subnetType: SubnetType.PUBLIC },
      securityGroups: [link],
    });
    return new HttpAlbIntegration('WriteIntegration', listener, { vpcLink });
  }

  /** A public listener for everything. Pushes have a separate target group, for the alarms about them. */
  #listenPublicly(vpc: Vpc, front: SecurityGroup, { settings, pushPaths }: WriteServiceProps): void {
    front.connections.allowFromAnyIpv4(Port.tcp(443), 'clients');
    Validations.of(front).acknowledge({
      id: 'AwsSolutions-EC23',
      reason: 'Clients can be anywhere; the setting authorization decides which requests are allowed.',
    });
    const listener = this.#createListener({
      port: 443,
      protocol: ApplicationProtocol.HTTPS,
      sslPolicy: SslPolicy.RECOMMENDED_TLS,
      certificates: [Certificate.fromCertificateArn(this, 'Certificate', settings.certificateArn)],
      defaultAction: ListenerAction.forward([this.#createTargets('Others', vpc)]),
    });
    const paths = pushPaths.map(path => path.replaceAll(/\{\w+\}/g, '*'));
    for (let first = 0; first < paths.length; first += PATHS_OF_RULE) {
      listener.addAction(`Paths${first / PATHS_OF_RULE}`, {
        priority: 1 + first,
        conditions: [ListenerCondition.pathPatterns(paths.slice(first, first + PATHS_OF_RULE))],
        action: ListenerAction.forward([this.targets]),
      });
    }
  }

  #createListener(
    props: Omit<ConstructorParameters<typeof ApplicationListener>[2], 'loadBalancer' | 'open'>,
  ) {
    return new ApplicationListener(this, 'Listener', {
      ...props,
      loadBalancer: this.loadBalancer,
      open: false,
    });
  }
}

/** Configuration as JSON, which is YAML, too. Without rules: they have secrets, and other processes run them. */
function configOfService(config: Config, tokensEnabled: boolean): string {
  const own: Config = {
    ...config,
    access: { ...config.access, tokensEnabled },
    server: {
      ...config.server,
      idleTimeoutMs: Math.max(config.server.idleTimeoutMs, IDLE_OF_CONTAINER.toMilliseconds()),
    },
  };
  const { ruler: _, ...sections } = formatConfig(own, { mode: 'diff' });
  return JSON.stringify(sections);
}

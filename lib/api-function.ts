/** Function of the stack, with a log group and a role that has the rights of its class. */
import { RemovalPolicy, Tags, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Code,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct, type IDependable } from 'constructs';
import { poolFlag } from '../bin/tuning.mjs';
import {
  type AnyFunctionName,
  componentsOfFunction,
  STACK_FUNCTION_NAMES,
  type StackFunctionName,
} from '../functions/groups.ts';
import { HANDLER } from './bundle.ts';
import type { FunctionClass } from './function-classes.ts';
import { type Granted, grant } from './grants.ts';

/** Memory of a function with one vCPU. */
const PROCESSOR_MB = 1769;

/** Network of the store's functions in a VPC. */
interface Network {
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
}

/** Settings that all functions of the store share. */
export interface SharedFunctionProps extends Granted {
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
  /** Undefined outside of a VPC. */
  readonly network?: Network | undefined;
  /** Resource that must exist as long as the functions; they are deleted first. */
  readonly outlivedBy?: IDependable;
}

interface ApiFunctionProps {
  readonly name: AnyFunctionName | StackFunctionName;
  readonly functionClass: FunctionClass;
  /** Folder of the bundle. */
  readonly code: string;
  readonly shared: SharedFunctionProps;
  /** Environment variables in addition to the shared ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Reserved concurrency, which is also the maximum; undefined uses the unreserved concurrency of the
   * account.
   */
  readonly reservedConcurrency?: number | undefined;
}

/** Tag with the function's component (docs/dev/operations.md#several-processes), for bills and dashboards by component. */
const COMPONENT_TAG = 'logboom:component';
/**
 * Actions that Lambda runs for a function in a VPC. They cannot be restricted to an interface that does not
 * exist yet.
 */
const NETWORK_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

export class ApiFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id);
    const { functionClass, code, shared } = props;
    const { bucket, table } = shared;
    const logGroup = new LogGroup(this, 'Log', {
      retention: shared.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The managed policy for functions would allow every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    grant(role, functionClass.rights, shared);
    this.lambda = new LambdaFunction(this, 'Function', {
      description: `Logboom: ${functionClass.description}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: functionClass.memoryMb,
      timeout: functionClass.timeout,
      handler: HANDLER,
      code: Code.fromAsset(code),
      role,
      logGroup,
      environment: {
        // V8 has four threads by default, which only take turns on one vCPU: a twentieth of the CPU time of a start.
        NODE_OPTIONS: poolFlag(Math.ceil(functionClass.memoryMb / PROCESSOR_MB)),
        ...shared.environment,
        LOGBOOM_BUCKET: bucket.bucketName,
        LOGBOOM_TABLE: table.tableName,
        ...props.environment,
      },
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    if (shared.network !== undefined) this.#joinNetwork(role, shared.network);
    const components = isOfStack(props.name) ? [] : componentsOfFunction(props.name);
    if (components.length > 0) Tags.of(this.lambda).add(COMPONENT_TAG, components.join(' '));
    if (shared.outlivedBy !== undefined) this.lambda.node.addDependency(shared.outlivedBy);
  }

  #joinNetwork(role: Role, { subnetIds, securityGroupIds }: Network): void {
    const vpcConfig = { subnetIds: [...subnetIds], securityGroupIds: [...securityGroupIds] };
    (this.lambda.node.defaultChild as CfnFunction).vpcConfig = vpcConfig;
    const may = new PolicyStatement({ actions: NETWORK_ACTIONS, resources: ['*'] });
    const { policyDependable } = role.addToPrincipalPolicy(may);
    // Lambda checks the role's rights when it accepts the setting.
    if (policyDependable !== undefined) this.lambda.node.addDependency(policyDependable);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'IDs of network interfaces are not known before Lambda creates them.',
    });
  }
}

function isOfStack(name: ApiFunctionProps['name']): name is StackFunctionName {
  return STACK_FUNCTION_NAMES.some(one => one === name);
}

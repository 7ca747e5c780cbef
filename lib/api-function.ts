/** A function of the stack, with a log of its own and a role that may do what its class needs. */
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
import {
  type AnyFunctionName,
  componentsOfFunction,
  STACK_FUNCTION_NAMES,
  type StackFunctionName,
} from '../functions/groups.ts';
import { HANDLER } from './bundle.ts';
import type { FunctionClass } from './function-classes.ts';
import { type Granted, grant } from './grants.ts';

/** Where in a VPC the functions of the store run. */
export interface Network {
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
}

/** What all functions of the store have in common. */
export interface StorePlace extends Granted {
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
  /** Undefined: outside of any VPC. */
  readonly network?: Network | undefined;
  /** What must be there as long as functions are; they end before it does. */
  readonly outlivedBy?: IDependable;
}

export interface ApiFunctionProps {
  readonly name: AnyFunctionName | StackFunctionName;
  readonly functionClass: FunctionClass;
  /** The folder of its bundle. */
  readonly code: string;
  readonly place: StorePlace;
  /** Beside that of the place. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Calls at once that are kept free for it, and no more; undefined: what the account has left. */
  readonly reservedConcurrency?: number | undefined;
}

/** What the function is among the components (docs/dev/operations.md#several-processes): for bills and dashboards by component. */
const COMPONENT_TAG = 'logboom:component';
/** What Lambda does in the name of a function in a VPC; none of these can be narrowed to an interface that does not exist yet. */
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
    const { functionClass, code, place } = props;
    const { bucket, table } = place;
    const logGroup = new LogGroup(this, 'Log', {
      retention: place.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Not the managed policy for functions: it allows every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    grant(role, functionClass.rights, place);
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
        ...place.environment,
        LOGBOOM_BUCKET: bucket.bucketName,
        LOGBOOM_TABLE: table.tableName,
        ...props.environment,
      },
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    if (place.network !== undefined) this.#joinNetwork(role, place.network);
    const components = isOfStack(props.name) ? [] : componentsOfFunction(props.name);
    if (components.length > 0) Tags.of(this.lambda).add(COMPONENT_TAG, components.join(' '));
    if (place.outlivedBy !== undefined) this.lambda.node.addDependency(place.outlivedBy);
  }

  #joinNetwork(role: Role, { subnetIds, securityGroupIds }: Network): void {
    const vpcConfig = { subnetIds: [...subnetIds], securityGroupIds: [...securityGroupIds] };
    (this.lambda.node.defaultChild as CfnFunction).vpcConfig = vpcConfig;
    const may = new PolicyStatement({ actions: NETWORK_ACTIONS, resources: ['*'] });
    const { policyDependable } = role.addToPrincipalPolicy(may);
    // Lambda looks whether the role may before it takes the setting.
    if (policyDependable !== undefined) this.lambda.node.addDependency(policyDependable);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'Interfaces of a function in a VPC have no names before Lambda makes them.',
    });
  }
}

function isOfStack(name: ApiFunctionProps['name']): name is StackFunctionName {
  return STACK_FUNCTION_NAMES.some(one => one === name);
}

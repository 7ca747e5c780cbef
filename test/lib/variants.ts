/** Settings that the stack is written with for tests. */
const ACCOUNT = '111122223333';
/** `max_compaction_functions` of test/lib/full.yaml. */
export const COMPACTION_FUNCTIONS = 120;

export const VARIANTS = {
  default: {},
  iam: { authorization: 'iam', alarms: 'yes', dashboard: 'yes', metrics: 'yes', canary: 'yes' },
  url: { endpoint: 'function-url', edge: 'no', removal: 'destroy' },
  own: {
    stackName: 'Own',
    gatewayLogRole: 'existing',
    deletionProtection: 'yes',
    ui: 'no',
    subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
    securityGroupIds: 'sg-0123456789abcdef0',
    permissionsBoundaryArn: `arn:aws:iam::${ACCOUNT}:policy/bounds`,
    tags: 'team=shop,env=prod',
  },
  full: {
    stackName: 'Logs',
    authorization: 'none',
    public: 'yes-really',
    config: 'test/lib/full.yaml',
    domain: 'logs.example.com',
    certificateArn: `arn:aws:acm:us-east-1:${ACCOUNT}:certificate/1`,
    webAclArn: `arn:aws:wafv2:us-east-1:${ACCOUNT}:global/webacl/logs/1`,
    kmsKeyArn: `arn:aws:kms:eu-central-1:${ACCOUNT}:key/11111111-2222-3333-4444-555555555555`,
    versioning: 'yes',
    noncurrentDays: '3',
    removal: 'destroy',
    logRetentionDays: '7',
    concurrency: '1000',
    alarmEmail: 'ops@example.com',
    canaryTenant: 'watch',
    logGroups: '/aws/lambda/shop,/ecs/web,/ecs/web',
    logsBucket: 'my-logs',
    eventTenant: 'acme',
    eventLabels: 'env=prod,team=a',
  },
  lake: { stackName: 'Log-Lake', authorization: 'iam', edge: 'no', exportTo: 's3://lake/logs/prod' },
  service: { edge: 'no', write: 'service', alarms: 'yes' },
  direct: {
    edge: 'no',
    write: 'service',
    writeTasks: '3',
    domain: 'logs.example.com',
    certificateArn: `arn:aws:acm:eu-central-1:${ACCOUNT}:certificate/2`,
  },
  token: {
    authorization: 'token',
    edge: 'no',
    canarySecretArn: `arn:aws:secretsmanager:eu-central-1:${ACCOUNT}:secret:canary-1`,
    alarmTopicArn: `arn:aws:sns:eu-central-1:${ACCOUNT}:alarms`,
  },
} as const;

/**
 * DynamoDB operations that the store uses, on an in-memory table; conditions and key ranges only in the
 * store's forms.
 */
import {
  type Condition,
  ConditionFailedError,
  type Item,
  type ItemKey,
  type Table,
  type Write,
} from '../../../shared/base/ports/table.ts';

type Attributes = Readonly<Record<string, { readonly S?: string; readonly N?: string; readonly B?: string }>>;

interface Conditioned {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues?: Attributes;
}

interface WriteInput extends Conditioned {
  readonly Item?: Attributes;
  readonly Key?: Attributes;
}

interface TableInput extends WriteInput {
  readonly ExclusiveStartKey?: Attributes;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly TransactItems?: readonly Readonly<Record<'Put' | 'Delete' | 'ConditionCheck', WriteInput>>[];
}

export interface TableResponse {
  readonly status: number;
  readonly json: unknown;
  readonly isWrite: boolean;
}

const DESCRIPTION = {
  TableName: 'logs',
  TableStatus: 'ACTIVE',
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
  ],
};
const WRITES: ReadonlySet<string> = new Set(['PutItem', 'DeleteItem', 'TransactWriteItems']);

export async function answerTable(
  table: Table,
  operation: string,
  input: TableInput,
): Promise<TableResponse> {
  const isWrite = WRITES.has(operation);
  try {
    return { status: 200, json: await run(table, operation, input), isWrite };
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
    return { status: 400, json: refusal(operation, input, error), isWrite };
  }
}

async function run(table: Table, operation: string, input: TableInput): Promise<unknown> {
  switch (operation) {
    case 'DescribeTable':
      return { Table: DESCRIPTION };
    case 'GetItem': {
      const item = await table.get(keyOf(input.Key!));
      return item === undefined ? {} : { Item: attributesOf(item) };
    }
    case 'Query': {
      const { ExpressionAttributeValues: values = {}, ExclusiveStartKey, ScanIndexForward, Limit } = input;
      const page = await table.query(values[':pk'].S!, {
        from: values[':from']?.S,
        to: values[':to']?.S,
        after: ExclusiveStartKey?.sk.S,
        reverse: ScanIndexForward === false,
        limit: Limit,
      });
      const LastEvaluatedKey = page.next && { pk: values[':pk'], sk: { S: page.next } };
      const Items = page.items.map(attributesOf);
      return { Items, Count: Items.length, ScannedCount: Items.length, LastEvaluatedKey };
    }
    case 'PutItem':
      await table.put(itemOf(input.Item!), conditionOf(input));
      return {};
    case 'DeleteItem':
      await table.delete(keyOf(input.Key!), conditionOf(input));
      return {};
    case 'TransactWriteItems':
      await table.transact(input.TransactItems!.map(writeOf));
      return {};
    default:
      return {};
  }
}

function writeOf({ Put, Delete, ConditionCheck }: Readonly<Record<string, WriteInput>>): Write {
  if (Put !== undefined) return { kind: 'put', item: itemOf(Put.Item!), condition: conditionOf(Put) };
  if (Delete !== undefined)
    return { kind: 'delete', key: keyOf(Delete.Key!), condition: conditionOf(Delete) };
  return { kind: 'check', key: keyOf(ConditionCheck.Key!), condition: conditionOf(ConditionCheck)! };
}

/** Parses the three forms that shared/aws/dynamodb-condition.ts writes. */
function conditionOf({
  ConditionExpression: text = '',
  ExpressionAttributeValues: values,
}: Conditioned): Condition | undefined {
  if (text === '') return undefined;
  if (text.startsWith('#version')) return { kind: 'version', version: Number(values![':version'].N) };
  return { kind: text.startsWith('attribute_exists') ? 'present' : 'absent' };
}

function refusal(
  operation: string,
  { TransactItems = [] }: TableInput,
  { index }: ConditionFailedError,
): unknown {
  const name = 'com.amazonaws.dynamodb.v20120810#';
  if (operation !== 'TransactWriteItems') {
    return { __type: `${name}ConditionalCheckFailedException`, message: 'the condition failed' };
  }
  const CancellationReasons = TransactItems.map((_, i) => ({
    Code: i === index ? 'ConditionalCheckFailed' : 'None',
  }));
  return { __type: `${name}TransactionCanceledException`, message: 'canceled', CancellationReasons };
}

function keyOf({ pk, sk }: Attributes): ItemKey {
  return { pk: pk.S!, sk: sk.S! };
}

function itemOf({ pk, sk, version, body, expiresAt }: Attributes): Item {
  const item = { pk: pk.S!, sk: sk.S!, version: Number(version.N), body: Buffer.from(body.B!, 'base64') };
  return expiresAt === undefined ? item : { ...item, expiresAt: Number(expiresAt.N) };
}

function attributesOf({ pk, sk, version, body, expiresAt }: Item): Attributes {
  return {
    pk: { S: pk },
    sk: { S: sk },
    version: { N: String(version) },
    body: { B: Buffer.from(body).toString('base64') },
    ...(expiresAt !== undefined && { expiresAt: { N: String(expiresAt) } }),
  };
}

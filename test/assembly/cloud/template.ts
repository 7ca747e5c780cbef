/**
 * Synthesized template with its intrinsic functions resolved, as if CloudFormation had created its resources:
 * each has the name and the ARN that references to it yield. Nothing is deployed; names are derived from
 * logical IDs.
 *
 * Pitfall: endpoints of the APIs are known only when the gateways listen. So values are resolved when they are
 * read, not when the template is loaded.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ACCOUNT = '123456789012';
export const REGION = 'us-east-1';

// biome-ignore lint/suspicious/noExplicitAny: a template is JSON of a hundred shapes; what is read of it is checked where it is used
export type Json = any;

export interface Resource {
  readonly id: string;
  readonly type: string;
  /** Properties as written, with intrinsic functions. */
  readonly properties: Json;
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': 'Logboom',
  'AWS::StackId': `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/Logboom/assembly`,
};

export class Template {
  readonly folder: string;
  readonly #json: Json;
  /** Suffix of bucket and table names, which an emulator keeps from run to run. */
  readonly #run = randomBytes(4).toString('hex');
  /**
   * Set by the stand-in of a resource: `<logical id>.<attribute>`, and `<logical id>` for the result of Ref.
   */
  readonly attributes = new Map<string, string>();

  /** @param folder a cloud assembly, as `npm run synth` writes it */
  constructor(folder: string) {
    this.folder = folder;
    this.#json = JSON.parse(readFileSync(join(folder, 'Logboom.template.json'), 'utf8'));
  }

  all(): Resource[] {
    return Object.entries(this.#json.Resources as Record<string, Json>).map(([id, { Type, Properties }]) => ({
      id,
      type: Type,
      properties: Properties ?? {},
    }));
  }

  ofType(type: string): Resource[] {
    return this.all().filter(one => one.type === type);
  }

  resource(id: string): Resource {
    const { Type, Properties } = this.#json.Resources[id] ?? {};
    if (Type === undefined) throw new Error(`the template has no resource ${id}`);
    return { id, type: Type, properties: Properties ?? {} };
  }

  output(name: string): string {
    return this.resolve(this.#json.Outputs[name].Value);
  }

  /** A value with all its intrinsic functions carried out. Throws for what it does not know, rather than guessing. */
  resolve(value: Json): Json {
    if (Array.isArray(value)) {
      return value.map(one => this.resolve(one)).filter(one => one !== NO_VALUE);
    }
    if (value === null || typeof value !== 'object') return value;
    const [name, ...others] = Object.keys(value);
    if (others.length === 0 && name !== undefined && (name === 'Ref' || name.startsWith('Fn::'))) {
      return this.#call(name, value[name]);
    }
    const pairs = Object.entries(value).map(([key, one]) => [key, this.resolve(one)] as const);
    return Object.fromEntries(pairs.filter(([, one]) => one !== NO_VALUE));
  }

  #call(name: string, argument: Json): Json {
    switch (name) {
      case 'Ref':
        return this.#reference(argument);
      case 'Fn::GetAtt': {
        const [id, attribute] = Array.isArray(argument) ? argument : splitOnce(argument);
        return this.#attribute(id, attribute);
      }
      case 'Fn::Join':
        return this.resolve(argument[1]).join(argument[0]);
      case 'Fn::Select':
        return this.resolve(argument[1])[Number(this.resolve(argument[0]))];
      case 'Fn::Split':
        return this.resolve(argument[1]).split(argument[0]);
      case 'Fn::Sub': {
        const [text, values] = Array.isArray(argument) ? argument : [argument, {}];
        return text.replaceAll(/\$\{([^}!]+)\}/g, (_: string, key: string) =>
          key in values
            ? this.resolve(values[key])
            : key.includes('.') && !key.includes('::')
              ? this.#attribute(...splitOnce(key))
              : this.#reference(key),
        );
      }
      case 'Fn::If':
        return this.resolve(this.#holds(argument[0]) ? argument[1] : argument[2]);
      case 'Fn::FindInMap': {
        const [map, first, second] = this.resolve(argument);
        return this.#json.Mappings[map][first][second];
      }
      default:
        throw new Error(`the assembly test does not know ${name}`);
    }
  }

  #holds(condition: string): boolean {
    const evaluate = (value: Json): boolean => {
      const [name] = Object.keys(value);
      const argument = value[name];
      if (name === 'Fn::Equals') return this.resolve(argument[0]) === this.resolve(argument[1]);
      if (name === 'Fn::Not') return !evaluate(argument[0]);
      if (name === 'Fn::And') return argument.every(evaluate);
      if (name === 'Fn::Or') return argument.some(evaluate);
      if (name === 'Condition') return this.#holds(argument);
      throw new Error(`the assembly test does not know the condition ${name}`);
    };
    return evaluate(this.#json.Conditions[condition]);
  }

  #reference(id: string): Json {
    if (id === 'AWS::NoValue') return NO_VALUE;
    if (id in PSEUDO) return PSEUDO[id];
    const set = this.attributes.get(id);
    if (set !== undefined) return set;
    const parameter = this.#json.Parameters?.[id];
    if (parameter !== undefined) return parameter.Default ?? '';
    return this.nameOf(this.resource(id));
  }

  #attribute(id: string, attribute: string): string {
    const set = this.attributes.get(`${id}.${attribute}`);
    if (set !== undefined) return set;
    const resource = this.resource(id);
    if (attribute === 'Arn' || attribute === 'TopicArn') return this.arnOf(resource);
    if (attribute === 'QueueName') return this.nameOf(resource);
    if (attribute === 'RegionalDomainName') return `${this.nameOf(resource)}.s3.${REGION}.amazonaws.com`;
    // A resource without a stand-in is never called, so any name works.
    return `${this.nameOf(resource)}.${attribute.toLowerCase()}`;
  }

  /** Result of Ref for a resource whose reference is its name. */
  nameOf({ id, type, properties }: Resource): string {
    const named = properties.BucketName ?? properties.TableName ?? properties.FunctionName;
    if (typeof named === 'string') return named;
    if (type === 'AWS::SNS::Topic') return `arn:aws:sns:${REGION}:${ACCOUNT}:${id.toLowerCase()}`;
    return KEPT.has(type) ? `${id.toLowerCase()}-${this.#run}` : id.toLowerCase();
  }

  arnOf(resource: Resource): string {
    const name = this.nameOf(resource);
    const place = `${REGION}:${ACCOUNT}`;
    switch (resource.type) {
      case 'AWS::S3::Bucket':
        return `arn:aws:s3:::${name}`;
      case 'AWS::DynamoDB::Table':
      case 'AWS::DynamoDB::GlobalTable':
        return `arn:aws:dynamodb:${place}:table/${name}`;
      case 'AWS::Lambda::Function':
        return `arn:aws:lambda:${place}:function:${name}`;
      case 'AWS::SQS::Queue':
        return `arn:aws:sqs:${place}:${name}`;
      case 'AWS::SNS::Topic':
        return name;
      case 'AWS::IAM::Role':
        return `arn:aws:iam::${ACCOUNT}:role/${name}`;
      case 'AWS::Logs::LogGroup':
        return `arn:aws:logs:${place}:log-group:${name}:*`;
      default:
        return `arn:aws:${resource.type.split('::')[1].toLowerCase()}:${place}:${name}`;
    }
  }
}

const KEPT = new Set(['AWS::S3::Bucket', 'AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable']);
const NO_VALUE: unique symbol = Symbol('AWS::NoValue');

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('.');
  return [text.slice(0, at), text.slice(at + 1)];
}

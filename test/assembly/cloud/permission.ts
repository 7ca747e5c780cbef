/** Resource policies of functions: which service may call which, from where. */
import type { Template } from './template.ts';

export function mayCall(
  template: Template,
  functionArn: string,
  service: string,
  sourceArn: string,
): boolean {
  return template.ofType('AWS::Lambda::Permission').some(({ properties }) => {
    const { Action, FunctionName, Principal, SourceArn } = template.resolve(properties);
    const name = functionArn.split(':').at(-1);
    return (
      Action === 'lambda:InvokeFunction' &&
      (FunctionName === functionArn || FunctionName === name) &&
      Principal === service &&
      (SourceArn === undefined || isLike(sourceArn, SourceArn))
    );
  });
}

function isLike(value: string, pattern: string): boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`).test(value);
}

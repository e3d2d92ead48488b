import { Compile } from 'typebox/schema';
import { presentSchemas } from './schema-files.ts';

const validators = new Map(
  Object.entries(presentSchemas()).map(([type, schema]) => [type, Compile(schema as Record<string, never>)]),
);

/** What an event, as the format `standard` sends it, has that the published schema of its type forbids. */
export function eventErrors(event: { readonly type: string }): string[] {
  const validator = validators.get(event.type);
  if (validator === undefined) return [`${event.type} is no event type`];
  const [, errors] = validator.Errors(event);
  return errors.map(({ instancePath, message }) => `${event.type} ${instancePath}: ${message}`);
}

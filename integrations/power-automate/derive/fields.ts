import type { ApiOperation, ApiParameter } from './document.ts';
import { definition, plain, toSwagger, type Schema } from './schemas.ts';
import type { Choices, ShownField } from './shown/shown.ts';
import { titleOf } from './shown/titles.ts';

type Json = Readonly<Record<string, unknown>>;

/** The schema of a body with the fields that are shown; throws where the daemon's has no such field. */
export function bodySchema(request: Schema, shown: Readonly<Record<string, ShownField>>): Schema {
  const properties = bodyOf(request, Object.keys(shown));
  const required = ((request['required'] ?? []) as string[]).filter((name) => name in shown);
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        { ...schema, ...shownAs(name, shown[name] ?? {}, schema['description']) },
      ]),
    ),
  };
}

/** These fields of a body, as input; throws where one is missing. */
export function bodyOf(request: Schema, names: readonly string[]): Record<string, Schema> {
  const present = (request['properties'] ?? {}) as Record<string, Schema>;
  return Object.fromEntries(
    names.map((name) => {
      const schema = present[name];
      if (schema === undefined) throw new Error(`the body has no field ${name}`);
      return [name, { ...toSwagger(schema, 'input', {}), 'x-ms-summary': titleOf(name) }];
    }),
  );
}

/** A parameter of a path or a query, as it is shown. */
export function parameter(
  { name, in: where, required, description, schema }: ApiParameter,
  shown: ShownField,
): Json {
  const { description: _, ...type } = toSwagger(schema, 'input', {});
  return {
    name,
    in: where,
    required: required === true,
    ...type,
    ...shownAs(name, shown, description),
    ...(where === 'path' ? { 'x-ms-url-encoding': 'single' } : {}),
  };
}

function shownAs(name: string, shown: ShownField, description: unknown): Json {
  const text = shown.description ?? (typeof description === 'string' ? plain(description) : undefined);
  return {
    'x-ms-summary': shown.title ?? titleOf(name),
    ...(text === undefined ? {} : { description: text }),
    ...(shown.visibility === undefined ? {} : { 'x-ms-visibility': shown.visibility }),
    ...(shown.default === undefined ? {} : { default: shown.default }),
    ...(shown.choices === undefined ? {} : { 'x-ms-dynamic-values': dynamicValues(shown.choices) }),
  };
}

function dynamicValues({ operationId, parameters, collection, value, title }: Choices): Json {
  return {
    operationId,
    parameters,
    'value-collection': collection,
    'value-path': value,
    'value-title': title,
  };
}

/** The parameter of this name; throws where the daemon's operation has none. */
export function findParameter(operation: ApiOperation, name: string): ApiParameter {
  const found = operation.parameters?.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${operation.operationId} has no parameter ${name}`);
  return found;
}

/** The answer to a request that fails. */
export function problem(): Json {
  return { description: 'What is wrong and what to do.', schema: definition('Problem') };
}

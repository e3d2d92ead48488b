import {
  operationOf,
  type Connector,
  type Definition,
  type Found,
  type Parameter,
  type Policy,
  type Schema,
} from './definition.ts';
import { misfits } from './fits.ts';

/** What a maker of flows enters: values by name of the parameter, and the body under `body`. */
export type Inputs = Readonly<Record<string, unknown>>;

/** What a connection was made with: values by name of the connection parameter. */
export type ConnectionValues = Readonly<Record<string, string>>;

/** A request as it leaves the service. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/**
 * The request for an operation: inputs and defaults at the places that the definition says, then the policies, then
 * the key of the connection. Throws what the designer would refuse.
 */
export function requestFor(
  connector: Connector,
  connection: ConnectionValues,
  operationId: string,
  inputs: Inputs,
): OutgoingRequest {
  const { definition } = connector;
  const { path, method, operation } = operationOf(definition, operationId);
  const parameters = operation.parameters ?? [];
  const unknown = Object.keys(inputs).filter((name) => !parameters.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`${operationId} has no parameter ${unknown.join(', ')}`);
  const query = new URLSearchParams();
  let filled = route(connector, operationId, path);
  let body: string | null = null;
  for (const parameter of parameters) {
    const value = valueOf(definition, parameter, inputs);
    if (value === undefined) continue;
    if (parameter.in === 'path') {
      filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(String(value)));
    } else if (parameter.in === 'query') query.set(parameter.name, String(value));
    else body = JSON.stringify(value);
  }
  const search = query.size === 0 ? '' : `?${query}`;
  return {
    method: method.toUpperCase(),
    url: baseOf(connector, connection, operationId) + filled + search,
    headers: {
      accept: 'application/json',
      ...keyOf(connector, connection),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    body,
  };
}

/** The headers that carry the key of the connection. */
export function keyOf(connector: Connector, connection: ConnectionValues): Record<string, string> {
  const { security, securityDefinitions } = connector.definition;
  const [name] = Object.keys(security[0] ?? {});
  const scheme = securityDefinitions[name ?? ''];
  if (name === undefined || scheme?.type !== 'apiKey' || scheme.in !== 'header') {
    throw new Error('the connector has no key in a header');
  }
  if (connector.properties.properties.connectionParameters[name]?.type !== 'securestring') {
    throw new Error(`a connection does not ask for ${name}`);
  }
  return { [scheme.name]: connection[name] ?? '' };
}

/** The field of a trigger's body that takes the callback URL; throws unless there is exactly one. */
export function notificationField({ operation }: Found): string {
  const fields = (operation.parameters ?? []).flatMap(({ schema }) =>
    Object.entries((schema?.['properties'] ?? {}) as Record<string, Schema>)
      .filter(([, field]) => field['x-ms-notification-url'] === true)
      .map(([name]) => name),
  );
  const [field, ...more] = fields;
  if (field === undefined || more.length > 0)
    throw new Error(`${operation.operationId} has ${fields.length}`);
  return field;
}

function valueOf(definition: Definition, parameter: Parameter, inputs: Inputs): unknown {
  const given = inputs[parameter.name] ?? parameter.default;
  const { schema } = parameter;
  const value = schema === undefined ? given : withDefaults(schema, given);
  if (value === undefined && parameter.required === true) throw new Error(`${parameter.name} is required`);
  if (value === undefined || schema === undefined) return value;
  const wrong = misfits(definition, { ...schema, additionalProperties: false }, value);
  if (wrong.length > 0) throw new Error(`${parameter.name}: ${wrong.join('; ')}`);
  return value;
}

// The designer enters the defaults of the fields of a body.
function withDefaults(schema: Schema, given: unknown): unknown {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const defaults = Object.entries(properties)
    .filter(([, field]) => 'default' in field)
    .map(([name, field]) => [name, field['default']]);
  if (given === undefined && defaults.length === 0) return undefined;
  return { ...Object.fromEntries(defaults), ...(given as object | undefined) };
}

// learn.microsoft.com/connectors/custom-connectors/policy-templates/dynamichosturl/dynamichosturl: the URL of the
// template takes the place of host and base path.
function baseOf(connector: Connector, connection: ConnectionValues, operationId: string): string {
  const { schemes, host, basePath } = connector.definition;
  const policy = policiesFor(connector, operationId).find(
    ({ templateId }) => templateId === 'dynamichosturl',
  );
  const template = policy?.parameters['x-ms-apimTemplateParameter.urlTemplate'];
  if (template === undefined) return `${schemes[0]}://${host}${basePath}`.replace(/\/$/, '');
  return String(template).replaceAll(/@connectionParameters\('(\w+)'\)/g, (_, name: string) => {
    const value = connection[name];
    if (value === undefined) throw new Error(`the connection has no ${name}`);
    return value;
  });
}

// learn.microsoft.com/connectors/custom-connectors/policy-templates/routerequesttoendpoint/routerequesttoendpoint
function route(connector: Connector, operationId: string, path: string): string {
  const policy = policiesFor(connector, operationId).find(
    ({ templateId }) => templateId === 'routerequesttoendpoint',
  );
  return policy === undefined ? path : String(policy.parameters['x-ms-apimTemplateParameter.newPath']);
}

// A policy without operations is for all of them.
function policiesFor({ properties }: Connector, operationId: string): Policy[] {
  return properties.properties.policyTemplateInstances.filter(({ parameters }) => {
    const named = parameters['x-ms-apimTemplate-operationName'];
    return named === undefined || named.includes(operationId);
  });
}

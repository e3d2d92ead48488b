import { operationOf, operationsOf, type Connector, type Found, type Schema } from './emulator/definition.ts';
import { resolve } from './emulator/fits.ts';

// Microsoft's rules for a connector that the JSON Schema of OpenAPI 2.0 does not hold. Pages below
// learn.microsoft.com/connectors/custom-connectors:
// - strings: connector-string-guidance
// - extensions: openapi-extensions
// - webhooks: create-webhook-trigger

/** What of the rules a connector breaks; empty when it keeps them all. */
export function brokenRules(connector: Connector): string[] {
  const { definition } = connector;
  return [
    ...infoRules(connector),
    ...operationsOf(definition).flatMap((found) => [
      ...textRules(found),
      ...parameterRules(connector, found),
      ...answerRules(found),
      ...(found.operation['x-ms-trigger'] === undefined ? [] : triggerRules(connector, found)),
    ]),
    ...uniqueIds(connector),
    ...schemasIn(definition, '').flatMap(([path, schema]) => schemaRules(path, schema)),
    ...extensionsIn(definition),
    ...propertyRules(connector),
  ];
}

type Json = Readonly<Record<string, unknown>>;

// Extensions that Microsoft documents, of those that a connector of this kind has a use for.
const extensions = new Set([
  'x-ms-capabilities',
  'x-ms-dynamic-values',
  'x-ms-notification-content',
  'x-ms-notification-url',
  'x-ms-summary',
  'x-ms-trigger',
  'x-ms-trigger-hint',
  'x-ms-url-encoding',
  'x-ms-visibility',
  'x-nullable',
]);

// Keywords of later dialects of JSON Schema and of OpenAPI.
const foreign = ['oneOf', 'anyOf', 'allOf', 'not', 'const', 'nullable', 'examples', 'propertyNames', '$defs'];

const formats = new Set(['int32', 'int64', 'float', 'double', 'date', 'date-time']);

function infoRules({ definition }: Connector): string[] {
  const { info } = definition as unknown as { info: { title: string; description: string } };
  return [
    ...(info.title.length > 30 ? ['the title has more than 30 characters'] : []),
    ...[info.title, info.description]
      .filter((text) => /\bAPI\b|Power|Microsoft/.test(text))
      .map((text) => `"${text}" has a word that titles and descriptions must not have`),
  ];
}

function textRules({ operation }: Found): string[] {
  const { operationId, summary, description } = operation;
  return [
    ...(/^[A-Z][A-Za-z]+$/.test(operationId) ? [] : [`${operationId} is not in camel case`]),
    ...(isSentenceCase(summary) && summary.length <= 80 ? [] : [`${operationId}: summary "${summary}"`]),
    ...(/^This operation .*\.$/.test(description) ? [] : [`${operationId}: description "${description}"`]),
  ];
}

function parameterRules(connector: Connector, { operation }: Found): string[] {
  return (operation.parameters ?? []).flatMap((parameter) => {
    const what = `${operation.operationId}: parameter ${parameter.name}`;
    if (parameter.in === 'body') {
      const { required = [], properties = {} } = (parameter.schema ?? {}) as {
        required?: readonly string[];
        properties?: Record<string, Json>;
      };
      return Object.entries(properties).flatMap(([name, field]) =>
        fieldRules(connector, `${what}.${name}`, field, required.includes(name)),
      );
    }
    const field = parameter as unknown as Json;
    return [
      ...(parameter.in === 'header' && parameter.name.toLowerCase() === 'authorization'
        ? [`${what}: the key of the connection goes there`]
        : []),
      ...fieldRules(connector, what, field, parameter.required === true),
    ];
  });
}

function fieldRules(connector: Connector, what: string, field: Json, required: boolean): string[] {
  const { description, 'x-ms-summary': summary, 'x-ms-visibility': visibility } = field;
  const text = typeof description === 'string' ? description : '';
  return [
    ...(isTitleCase(summary)
      ? []
      : [`${what}: x-ms-summary ${JSON.stringify(summary)} is not in title case`]),
    ...(/^\S.*\.$/s.test(text) && text !== summary ? [] : [`${what}: description "${text}"`]),
    // The service fills the callback URL in.
    ...(visibility === 'internal' && required && !('default' in field || 'x-ms-notification-url' in field)
      ? [`${what} is hidden and required, and has no default`]
      : []),
    ...('x-ms-dynamic-values' in field ? choiceRules(connector, what, field) : []),
  ];
}

// Paths of choices have to lead somewhere in the answer of their operation.
function choiceRules({ definition }: Connector, what: string, field: Json): string[] {
  const choices = field['x-ms-dynamic-values'] as Record<string, string> & { parameters: Json };
  const { operation } = operationOf(definition, choices['operationId'] ?? '');
  const names = (operation.parameters ?? []).map(({ name }) => name);
  const answer = operation.responses['200']?.schema ?? {};
  const list = propertyOf(answer, choices['value-collection']);
  const item = (list?.['items'] ?? {}) as Schema;
  return [
    ...Object.keys(choices.parameters)
      .filter((name) => !names.includes(name))
      .map((name) => `${what}: ${operation.operationId} has no parameter ${name}`),
    ...['value-path', 'value-title']
      .filter((key) => propertyOf(item, choices[key]) === undefined)
      .map((key) => `${what}: ${key} leads nowhere`),
  ];

  function propertyOf(schema: Schema, name: string | undefined): Schema | undefined {
    const properties = (resolve(definition, schema)['properties'] ?? {}) as Record<string, Schema>;
    return properties[name ?? ''];
  }
}

function answerRules({ operation }: Found): string[] {
  const { operationId, responses } = operation;
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const [status, success] = successes[0] ?? [];
  return [
    ...(successes.length === 1 ? [] : [`${operationId} has ${successes.length} answers of success`]),
    ...(status === '204' || Object.keys(success?.schema ?? {}).length > 0
      ? []
      : [`${operationId} does not describe its answer`]),
  ];
}

function triggerRules({ definition }: Connector, { method, item, path, operation }: Found): string[] {
  const { operationId } = operation;
  const fields = schemasIn(operation.parameters, '').filter(
    ([, schema]) => 'x-ms-notification-url' in schema,
  );
  const [, url] = fields[0] ?? ['', {}];
  const isRemovable = operationsOf(definition).some(({ method: other }) => other === 'delete');
  return [
    ...(operation['x-ms-trigger'] === 'single' ? [] : [`${operationId} is no single trigger`]),
    ...(method === 'post' ? [] : [`${operationId} is not a POST`]),
    ...(operation.summary.startsWith('When a ') ? [] : [`${operationId}: summary "${operation.summary}"`]),
    ...(operation.description.startsWith('This operation triggers when ')
      ? []
      : [`${operationId}: description "${operation.description}"`]),
    ...(item['x-ms-notification-content']?.schema === undefined
      ? [`${path} does not describe its notifications`]
      : []),
    ...(fields.length === 1 && url?.['x-ms-visibility'] === 'internal'
      ? []
      : [`${operationId} has not one hidden field for the callback URL`]),
    ...('201' in operation.responses ? [] : [`${operationId} answers no 201`]),
    ...(isRemovable ? [] : ['no operation removes a subscription']),
  ];
}

function uniqueIds({ definition }: Connector): string[] {
  const ids = operationsOf(definition).map(({ operation }) => operation.operationId);
  return ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `${id} stands twice`);
}

function schemaRules(path: string, schema: Schema): string[] {
  const { type, format, $ref, 'x-ms-summary': summary } = schema;
  return [
    ...(summary === undefined || isTitleCase(summary) ? [] : [`${path} is called "${String(summary)}"`]),
    ...foreign.filter((key) => key in schema).map((key) => `${path} has ${key}`),
    ...(Array.isArray(type) ? [`${path} has several types`] : []),
    ...(typeof format === 'string' && !formats.has(format) ? [`${path} has the format ${format}`] : []),
    ...($ref !== undefined && Object.keys(schema).length > 1 ? [`${path} has more than its reference`] : []),
    ...(type === undefined && $ref === undefined ? [`${path} has no type`] : []),
    ...(type === 'array' && !('items' in schema) ? [`${path} has no items`] : []),
  ];
}

// All schemas of a value, and where they stand.
function schemasIn(value: unknown, path: string): [string, Schema][] {
  if (Array.isArray(value)) return value.flatMap((each, i) => schemasIn(each, `${path}/${i}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const here = `${path}/${key}`;
    const own = (schema: unknown, where: string): [string, Schema][] => [
      [where, schema as Schema],
      ...schemasIn(schema, where),
    ];
    if (key === 'schema' || key === 'items') return own(inner, here);
    if (key === 'properties' || key === 'definitions') {
      return Object.entries(inner as object).flatMap(([name, schema]) => own(schema, `${here}/${name}`));
    }
    return schemasIn(inner, here);
  });
}

function extensionsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each, i) => extensionsIn(each, `${path}/${i}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => [
    // A header of the daemon may have such a name as a property.
    ...(key.startsWith('x-') && !extensions.has(key) && !path.endsWith('/properties')
      ? [`${path} has the unknown extension ${key}`]
      : []),
    ...extensionsIn(inner, `${path}/${key}`),
  ]);
}

// The two colours are those that Microsoft's reviews of connectors refuse.
function propertyRules({ definition, properties }: Connector): string[] {
  const { iconBrandColor, connectionParameters, policyTemplateInstances } = properties.properties;
  const ids = operationsOf(definition).map(({ operation }) => operation.operationId);
  const parameters = JSON.stringify(policyTemplateInstances).matchAll(/@connectionParameters\('(\w+)'\)/g);
  return [
    ...(/^#[0-9a-f]{6}$/.test(iconBrandColor) && !['#007ee5', '#ffffff'].includes(iconBrandColor)
      ? []
      : [`the colour ${iconBrandColor}`]),
    ...[...parameters]
      .filter(([, name]) => !((name ?? '') in connectionParameters))
      .map(([, name]) => `a policy needs ${name}, which a connection does not ask for`),
    ...policyTemplateInstances
      .flatMap(({ parameters: given }) => given['x-ms-apimTemplate-operationName'] ?? [])
      .filter((id) => !ids.includes(id))
      .map((id) => `a policy is for ${id}, which there is not`),
    ...policyTemplateInstances
      .flatMap(({ parameters: given }) => given['x-ms-apimTemplateParameter.newPath'] ?? [])
      .filter((path) => !(path in definition.paths))
      .map((path) => `a policy leads to ${path}, which there is not`),
  ];
}

function isSentenceCase(text: string): boolean {
  return /^[A-Z][a-z]*( [a-z]+)*$/.test(text);
}

// Small words stay small inside a title.
function isTitleCase(text: unknown): boolean {
  if (typeof text !== 'string' || text.length === 0 || text.length > 80) return false;
  return text.split(' ').every((word, i) => /^[A-Z]/.test(word) || (i > 0 && /^(by|of|the)$/.test(word)));
}
